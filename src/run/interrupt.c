#include "run/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void signals(sigset_t *ret)
{
    sigemptyset(ret);
    sigaddset(ret, SIGINT);
    sigaddset(ret, SIGTERM);
}

void interrupt_begin(struct interrupt *i)
{
    sigset_t ours;

    memset(i, 0, sizeof(*i));
    signals(&ours);
    pthread_sigmask(SIG_BLOCK, &ours, &i->before);
    i->fd = signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* The signal is taken from the queue first, or unblocking would deliver it. */
bool interrupt_seen(struct interrupt *i)
{
    struct signalfd_siginfo info;
    sigset_t ours;

    if (i->seen || i->fd < 0)
        return i->seen;
    if (read(i->fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return false;
    i->seen = true;
    signals(&ours);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    return true;
}

void interrupt_end(struct interrupt *i)
{
    if (i->fd >= 0)
        close(i->fd);
    i->fd = -1;
    pthread_sigmask(SIG_SETMASK, &i->before, NULL);
}
