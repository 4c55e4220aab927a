/*
 * log: messages to the person, on stderr.
 *
 * Only run/ and cli/ call it: everything below returns an error instead. Every line is
 * "ipw: [level: ]text". Control characters are made visible, so that words from a server cannot
 * drive the terminal. Secrets are never passed here.
 */
#ifndef IPW_BASE_LOG_H
#define IPW_BASE_LOG_H

#include <stdbool.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };

/* Messages above this level are dropped. Default LOG_LEVEL_INFO; --quiet sets LOG_LEVEL_WARNING. */
void log_set_level(enum log_level level);
enum log_level log_level(void);

/* Is called before every line that is written: whoever draws on the terminal clears it. NULL =
 * none.
 */
void log_set_before(void (*before)(void));

void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
