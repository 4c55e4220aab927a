#include "store/journal.h"

#include "base/alloc.h"
#include "base/checksum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOURNAL_MAGIC     UINT32_C(0x4A575049) /* "IPWJ" */
#define JOURNAL_PARTS_MAX 4

struct entry_head {
    uint32_t magic;
    uint32_t type;
    uint64_t n;
    uint64_t checksum; /* of type, n and the payload */
};

static uint64_t entry_checksum(uint32_t type, uint64_t n, const struct iovec *parts, size_t n_parts)
{
    struct checksum c = {0};

    checksum_add(&c, &type, sizeof(type));
    checksum_add(&c, &n, sizeof(n));
    for (size_t i = 0; i < n_parts; i++)
        checksum_add(&c, parts[i].iov_base, parts[i].iov_len);
    return checksum_value(&c);
}

static int write_all(int fd, struct iovec *v, int n, struct err *err)
{
    while (n > 0) {
        ssize_t put = writev(fd, v, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_sys(err, errno, "cannot write the journal");
        for (; n > 0 && (size_t)put >= v->iov_len; n--, v++)
            put -= (ssize_t)v->iov_len;
        if (n > 0) {
            v->iov_base = (char *)v->iov_base + put;
            v->iov_len -= (size_t)put;
        }
    }
    return 0;
}

int journal_write(int fd, enum journal_type type, const struct iovec *parts, size_t n_parts,
                  struct err *err)
{
    struct entry_head head = {.magic = JOURNAL_MAGIC, .type = type};
    struct iovec v[JOURNAL_PARTS_MAX + 1];
    off_t start = lseek(fd, 0, SEEK_END);
    int r;

    v[0] = (struct iovec){&head, sizeof(head)};
    for (size_t i = 0; i < n_parts; i++) {
        v[i + 1] = parts[i];
        head.n += parts[i].iov_len;
    }
    head.checksum = entry_checksum(head.type, head.n, parts, n_parts);
    r = write_all(fd, v, (int)n_parts + 1, err);
    /* a part of an entry would hide every later one */
    if (r < 0 && ftruncate(fd, start) < 0)
        return err_sys(err, errno, "cannot shorten the journal");
    return r;
}

int journal_write_commit(int fd, const struct journal_commit *c, struct err *err)
{
    struct journal_commit copy = *c;
    struct iovec part = {&copy, sizeof(copy)};

    return journal_write(fd, JOURNAL_COMMIT, &part, 1, err);
}

static void index_entries(struct journal *j)
{
    const char *p = j->file.data;
    size_t left = j->file.size;

    while (left >= sizeof(struct entry_head)) {
        struct entry_head head;
        struct iovec payload;

        memcpy(&head, p, sizeof(head));
        if (head.magic != JOURNAL_MAGIC || head.n > left - sizeof(head))
            return;
        payload = (struct iovec){(void *)((uintptr_t)p + sizeof(head)), head.n};
        if (head.checksum != entry_checksum(head.type, head.n, &payload, 1))
            return;
        if (head.type != JOURNAL_ROWS && head.n != sizeof(struct journal_commit))
            return;
        GROW(j->entries, j->n, j->cap);
        j->entries[j->n++] = (struct journal_entry){
            .type = (enum journal_type)head.type, .payload = p + sizeof(head), .n = head.n};
        p += sizeof(head) + head.n;
        left -= sizeof(head) + head.n;
    }
}

int journal_open(int dirfd, struct journal *ret, struct err *err)
{
    struct journal j = {0};
    int r = fs_map_open(dirfd, JOURNAL_NAME, &j.file, err);

    if (r < 0)
        return r;
    index_entries(&j);
    *ret = j;
    return 0;
}

void journal_release(struct journal *j)
{
    fs_map_release(&j->file);
    free(j->entries);
    *j = (struct journal){0};
}

struct journal_commit journal_commit_of(const struct journal_entry *e)
{
    struct journal_commit c;

    memcpy(&c, e->payload, sizeof(c));
    return c;
}
