/*
 * attr: the small files of /sys and /proc, as collectors read them.
 *
 * A value that is sampled is opened once and read again and again from its start, so that a sample
 * costs one system call:
 *
 *     int fd = attr_open(dirfd, "energy_uj");          -errno when it cannot be had
 *     r = attr_read(fd, &energy_uj);                   0, or -errno: absent this time
 *
 * Names and labels are read once, by attr_text. Nothing here trusts what it reads: a number is one
 * whole number or refused, text is printable UTF-8 of bounded length.
 *
 * All functions may be called from any thread.
 */
#ifndef IPW_TELEMETRY_ATTR_H
#define IPW_TELEMETRY_ATTR_H

#include <stddef.h>
#include <stdint.h>

/* Entries of one folder that attr_indices looks at, and what it may return. */
#define ATTR_ENTRIES_MAX 65536
#define ATTR_INDEX_MAX   999999

/* A file that is read as a number. Returns the fd (the caller closes it) or -errno. */
int attr_open(int dirfd, const char *path);

/* The whole number in the file. -ENODATA: it is empty; -EINVAL: something else is in it; -ERANGE:
 * it does not fit; else what the system said. */
int attr_read(int fd, int64_t *ret);

/* Opens, reads and closes. */
int attr_read_at(int dirfd, const char *path, int64_t *ret);

/* The text of a file up to its first NUL, cleaned. Returns its length (0: there is nothing in it)
 * or -errno; then ret is "". */
int attr_text(int dirfd, const char *path, char *ret, size_t size);

/* Copies n bytes as text: blanks at both ends are dropped, control characters and invalid UTF-8
 * become '?', and what does not fit is cut at a character. Returns the length. */
size_t text_clean(char *ret, size_t size, const char *text, size_t n);

/* The decimal number that *p begins with, as indices are written: no sign, no leading zeros. *p
 * moves behind it. -1: there is none, or it is larger than ATTR_INDEX_MAX. */
int text_take_index(const char **p);

/* The numbers N, ascending, of the entries of the folder that are called <prefix>N<suffix>.
 * Returns how many; the caller frees *ret, which is NULL when there are none. */
size_t attr_indices(int dirfd, const char *prefix, const char *suffix, int **ret);

#endif
