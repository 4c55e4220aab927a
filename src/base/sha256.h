/*
 * sha256: the digest by which a page's security policy names the scripts it allows.
 *
 *     char text[SHA256_BASE64_SIZE];
 *     sha256_base64(script, n, text);          "RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc="
 *
 * Pure: any thread.
 */
#ifndef IPW_BASE_SHA256_H
#define IPW_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_SIZE        32
#define SHA256_BASE64_SIZE 45

void sha256(const void *data, size_t n, uint8_t ret[SHA256_SIZE]);
/* In base64 with padding, NUL-terminated. */
void sha256_base64(const void *data, size_t n, char ret[SHA256_BASE64_SIZE]);

#endif
