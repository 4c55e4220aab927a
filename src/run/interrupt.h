/*
 * interrupt: Ctrl-C and SIGTERM as something a loop can wait for.
 *
 *     interrupt_begin(&i);                 before any thread is started
 *     poll(..., i.fd, ...);
 *     if (interrupt_seen(&i)) ...          finish cleanly
 *     interrupt_end(&i);
 *
 * The first one is a request, and is only seen. From then on the signals do again what they do by
 * default: the second one ends the program at once.
 */
#ifndef IPW_RUN_INTERRUPT_H
#define IPW_RUN_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

struct interrupt {
    int fd; /* readable when a signal came that was not seen yet */
    bool seen;
    sigset_t before;
};

void interrupt_begin(struct interrupt *i);
/* Has one come? */
bool interrupt_seen(struct interrupt *i);
void interrupt_end(struct interrupt *i);

#endif
