/*
 * cleanup: what a scope owns is released when the scope ends.
 *
 *     AUTO_FREE char *path = xasprintf("%s/energy_uj", dir);
 *     AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
 *     AUTO(buf) struct buf b = BUF_INIT(1 << 20);          calls buf_release(&b)
 *     AUTO_PTR(dataset) struct dataset *d = NULL;          calls dataset_free(d)
 *     ...
 *     *ret = STEAL(d);                                     success: the caller owns it now
 *
 * AUTO_PTR(type) needs one DEFINE_AUTO_PTR(type, destructor) beside the type's functions.
 */
#ifndef IPW_BASE_CLEANUP_H
#define IPW_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

static inline void cleanup_file(FILE **f)
{
    if (*f)
        fclose(*f);
}

#define AUTO_FREE  __attribute__((cleanup(cleanup_free)))
#define AUTO_FD    __attribute__((cleanup(cleanup_fd)))
#define AUTO_FILE  __attribute__((cleanup(cleanup_file)))
#define AUTO(type) __attribute__((cleanup(type##_release)))

#define DEFINE_AUTO_PTR(type, destructor)                  \
    static inline void type##_cleanup_ptr(struct type **p) \
    {                                                      \
        destructor(*p);                                    \
    }                                                      \
    struct type
#define AUTO_PTR(type) __attribute__((cleanup(type##_cleanup_ptr)))

/* Moves a pointer out of an owning variable. */
#define STEAL(p)                     \
    __extension__({                  \
        __typeof__(p) stolen_ = (p); \
        (p) = NULL;                  \
        stolen_;                     \
    })

/* The same for a file descriptor. */
static inline int steal_fd(int *fd)
{
    int stolen = *fd;

    *fd = -1;
    return stolen;
}

#endif
