/*
 * err: what went wrong, in words for the person at the terminal.
 *
 * A fallible function returns 0 or a negative errno and takes `struct err *err` last; NULL is
 * allowed where the caller does not want the words. On failure its other outputs are untouched.
 *
 *     struct err err = {0};
 *     if (fs_read_all(dirfd, name, max, &text, &err) < 0)
 *         return err_prefix(&err, "dataset %s", name);
 */
#ifndef IPW_BASE_ERR_H
#define IPW_BASE_ERR_H

#define ERR_TEXT_MAX 256

struct err {
    int code; /* negative errno; 0 = nothing happened */
    char text[ERR_TEXT_MAX];
};

/* Stores `code` (a positive errno) and the words, cut to fit on a UTF-8 boundary. Returns -code. */
int err_set(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set, and appends ": " with the system's words for `code`. */
int err_sys(struct err *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "words: " in front of the text. Returns the code stored in err (-EIO when err is NULL), so
 * that a caller can `return err_prefix(err, ...)`. */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
