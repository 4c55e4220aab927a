/*
 * What rewrite.c (making the new data) and rewrite_exchange.c (making it the run) share.
 */
#ifndef IPW_STORE_REWRITE_PRIVATE_H
#define IPW_STORE_REWRITE_PRIVATE_H

#include "base/err.h"

#include <stdbool.h>

/* In the run's directory: the new data, a whole dataset by itself. */
#define REWRITE_DIR ".ipw-rewrite"

/* The finished data in REWRITE_DIR becomes the run's. */
int rewrite_publish(int fd, bool schema_changed, struct err *err);

#endif
