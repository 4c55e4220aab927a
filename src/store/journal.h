/*
 * journal: what makes an unfinished dataset recoverable. Private to hfwriter.
 *
 * An append-only file of checked entries. COMMIT says: the parts count up to this byte of this
 * part, and the bytes since the COMMIT before have this checksum. ROWS holds an Arrow batch of rows
 * that come after the last COMMIT. FINAL says that all rows are in the parts and only renaming is
 * left. The end may be torn: the first entry that does not check ends the journal.
 */
#ifndef IPW_STORE_JOURNAL_H
#define IPW_STORE_JOURNAL_H

#include "base/err.h"
#include "base/fs.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define JOURNAL_NAME "journal"

enum journal_type { JOURNAL_COMMIT = 1, JOURNAL_ROWS };

struct journal_commit {
    uint64_t part;     /* number of the part */
    uint64_t from;     /* the batch's first byte */
    uint64_t to;       /* where the part ends for now */
    uint64_t checksum; /* of [from, to) */
};

/* Appends one entry, its parts in order. */
int journal_write(int fd, enum journal_type type, const struct iovec *parts, size_t n_parts,
                  struct err *err);
int journal_write_commit(int fd, const struct journal_commit *c, struct err *err);

struct journal_entry {
    enum journal_type type;
    const char *payload;
    size_t n;
};

/* A journal read whole (mapped). */
struct journal {
    struct fs_map file;
    struct journal_entry *entries;
    size_t n, cap;
};

int journal_open(int dirfd, struct journal *ret, struct err *err);
void journal_release(struct journal *j);
/* The commit of a COMMIT entry. */
struct journal_commit journal_commit_of(const struct journal_entry *e);

#endif
