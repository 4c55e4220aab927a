/*
 * visible: the lists in CUDA_VISIBLE_DEVICES and its relatives.
 *
 *     if (visible_all(text)) ...
 *     while (visible_next(&text, entry, sizeof(entry))) ...
 */
#ifndef IPW_TELEMETRY_VISIBLE_H
#define IPW_TELEMETRY_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

/* No restriction: the variable is not set, or says "all". */
bool visible_all(const char *text);

/* Copies the next entry of a comma-separated list without the blanks around it and moves *text
 * past it; false at the end. An entry longer than fits comes out as "?", which names no device.
 * The words for "no device" (none, void, NoDevFiles) and an empty text end the list. */
bool visible_next(const char **text, char *entry, size_t size);

/* The entry as a device number below n, else -1. */
int visible_index(const char *entry, size_t n);

#endif
