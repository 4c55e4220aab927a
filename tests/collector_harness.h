/*
 * collector_harness: what the tests of collectors share: an open collector with what it put last,
 * and fake trees that a test can change.
 *
 *     struct fake f;
 *     assert_ok(fake_open(&f, "rapl", FIXTURES "/sys/xeon-2s", FIXTURES "/proc/xeon", NULL),
 * &f.err); assert_ok(fake_read(&f), &f.err); assert_near(fake_value(&f, "package-0",
 * QUANTITY_ENERGY_J), 262143.0, 1e-9); fake_close(&f);
 */
#ifndef IPW_TESTS_COLLECTOR_HARNESS_H
#define IPW_TESTS_COLLECTOR_HARNESS_H

#include "harness.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "telemetry/collector.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>

#define FAKE_CHANNELS_MAX 2048

struct fake {
    struct sample_sink sink; /* first: put() is given its address */
    struct telemetry_env env;
    struct collector_setup setup;
    const struct collector_ops *ops;
    void *ctx;
    struct err err;
    double last[FAKE_CHANNELS_MAX]; /* of the latest read; NAN = not put */
    int puts[FAKE_CHANNELS_MAX];    /* in the latest read */
    mono_ns before[FAKE_CHANNELS_MAX], after[FAKE_CHANNELS_MAX];
};

static inline void fake_put(struct sample_sink *self, size_t channel, mono_ns before, mono_ns after,
                            double value)
{
    struct fake *f = (struct fake *)self;

    assert_true(channel < f->setup.n_channels && channel < FAKE_CHANNELS_MAX);
    assert_true(before <= after);
    f->last[channel] = value;
    f->puts[channel]++;
    f->before[channel] = before;
    f->after[channel] = after;
}

static inline int fake_open(struct fake *f, const char *id, const char *sysfs, const char *procfs,
                            const struct kv_list *params)
{
    int r;

    memset(f, 0, sizeof(*f));
    f->sink.put = fake_put;
    f->env = (struct telemetry_env){.sysfs_root = sysfs, .procfs_root = procfs, .params = params};
    f->setup.env = &f->env;
    f->ops = collector_find(id, &f->err);
    assert_non_null(f->ops);
    r = f->ops->open(&f->setup, &f->ctx, &f->err);
    if (r < 0) {
        assert_null(f->ctx);
        collector_setup_release(&f->setup);
    }
    return r;
}

static inline int fake_read(struct fake *f)
{
    for (size_t i = 0; i < FAKE_CHANNELS_MAX; i++) {
        f->last[i] = NAN;
        f->puts[i] = 0;
    }
    return f->ops->read(f->ctx, &f->sink, &f->err);
}

static inline void fake_close(struct fake *f)
{
    f->ops->close(f->ctx);
    collector_setup_release(&f->setup);
}

/* The channel of this name and quantity, NULL when there is none. */
static inline const struct channel *fake_find(const struct fake *f, const char *name,
                                              enum quantity q)
{
    for (size_t i = 0; i < f->setup.n_channels; i++)
        if (strcmp(f->setup.channels[i].name, name) == 0 && f->setup.channels[i].quantity == q)
            return &f->setup.channels[i];
    return NULL;
}

static inline const struct channel *fake_channel(const struct fake *f, const char *name,
                                                 enum quantity q)
{
    const struct channel *c = fake_find(f, name, q);

    if (!c)
        fail_msg("no channel '%s'", name);
    return c;
}

static inline const struct device *fake_device(const struct fake *f, const char *name,
                                               enum quantity q)
{
    const struct channel *c = fake_channel(f, name, q);

    assert_true(c->device < f->setup.n_devices);
    return &f->setup.devices[c->device];
}

static inline double fake_value(const struct fake *f, const char *name, enum quantity q)
{
    return f->last[fake_channel(f, name, q) - f->setup.channels];
}

/* Writes <root>/<path>, with the folders it needs. */
static inline void tree_write(const char *root, const char *path, const char *content)
{
    char full[512], parent[512];
    struct err err = {0};
    int fd;

    snprintf(full, sizeof(full), "%s/%s", root, path);
    snprintf(parent, sizeof(parent), "%s", full);
    assert_ok(fs_mkdirs(dirname(parent), &err), &err);
    fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_ok(fs_write_full(fd, content, strlen(content), &err), &err);
    close(fd);
}

static inline void tree_chmod(const char *root, const char *path, mode_t mode)
{
    char full[512];

    snprintf(full, sizeof(full), "%s/%s", root, path);
    assert_int_equal(chmod(full, mode), 0);
}

static inline void tree_mkdir(const char *root, const char *path)
{
    char full[512];
    struct err err = {0};

    snprintf(full, sizeof(full), "%s/%s", root, path);
    assert_ok(fs_mkdirs(full, &err), &err);
}

/* An empty tree that other users may look into. */
static inline void tree_new(char root[64])
{
    make_temp_dir(root);
    assert_int_equal(chmod(root, 0755), 0);
}

static inline void tree_remove(const char *root)
{
    assert_int_equal(fs_remove_tree(AT_FDCWD, root, NULL), 0);
}

/* Root may read everything: a test of permissions is run as somebody else. Returns false where that
 * cannot be done. */
static inline bool become_nobody(void)
{
    return geteuid() != 0 || seteuid(65534) == 0;
}

static inline void become_self(void)
{
    if (geteuid() != getuid())
        assert_int_equal(seteuid(getuid()), 0);
}

#endif
