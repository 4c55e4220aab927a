/*
 * base64: bytes as text (RFC 4648, with padding), for data: addresses and digests.
 */
#ifndef IPW_BASE_BASE64_H
#define IPW_BASE_BASE64_H

#include "base/buf.h"

#include <stddef.h>

/* Appends; -EMSGSIZE past the buf's limit, and then nothing of it is there. */
int base64_add(struct buf *out, const void *data, size_t n);

#endif
