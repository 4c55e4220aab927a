#include "support/collect.h"

#include "harness.h"

#include "base/alloc.h"

extern char **environ;

static void keep(struct sample_sink *self, size_t channel, mono_ns before, mono_ns after,
                 double value)
{
    struct collect *c = (struct collect *)self;

    assert_true(channel < c->setup.n_channels);
    assert_true(before <= after);
    GROW(c->puts, c->n_puts, c->cap_puts);
    c->puts[c->n_puts++] = (struct collect_put){channel, before, after, value};
}

int collect_try(struct collect *c, const char *id, const struct telemetry_env *env)
{
    int r;

    *c = (struct collect){.sink = {.put = keep}, .env = *env};
    c->setup.env = &c->env;
    c->ops = collector_find(id, &c->err);
    if (!c->ops)
        fail_msg("%s", c->err.text);
    r = c->ops->open(&c->setup, &c->ctx, &c->err);
    if (r < 0) {
        assert_null(c->ctx);
        assert_true(c->err.text[0]);
        collector_setup_release(&c->setup);
    }
    return r;
}

void collect_open(struct collect *c, const char *id, const struct telemetry_env *env)
{
    assert_ok(collect_try(c, id, env), &c->err);
    assert_non_null(c->ctx);
    for (size_t i = 0; i < c->setup.n_channels; i++)
        assert_true(c->setup.channels[i].device < c->setup.n_devices);
}

int collect_read(struct collect *c)
{
    c->n_puts = 0;
    return c->ops->read(c->ctx, &c->sink, &c->err);
}

void collect_close(struct collect *c)
{
    c->ops->close(c->ctx);
    collector_setup_release(&c->setup);
    free(c->puts);
    c->puts = NULL;
}

size_t collect_channel(const struct collect *c, int device_number, enum quantity q)
{
    for (size_t i = 0; i < c->setup.n_channels; i++) {
        const struct channel *ch = &c->setup.channels[i];

        if (ch->quantity == q && c->setup.devices[ch->device].number == device_number &&
            !strstr(ch->name, "samples"))
            return i;
    }
    return COLLECT_NONE;
}

size_t collect_named(const struct collect *c, const char *name, enum quantity q)
{
    for (size_t i = 0; i < c->setup.n_channels; i++)
        if (c->setup.channels[i].quantity == q && strcmp(c->setup.channels[i].name, name) == 0)
            return i;
    return COLLECT_NONE;
}

const struct collect_put *collect_last(const struct collect *c, size_t channel)
{
    for (size_t i = c->n_puts; i > 0; i--)
        if (c->puts[i - 1].channel == channel)
            return &c->puts[i - 1];
    return NULL;
}

double collect_value(const struct collect *c, int device_number, enum quantity q)
{
    const struct collect_put *put = collect_last(c, collect_channel(c, device_number, q));

    return put ? put->value : NAN;
}

bool collect_noted(const struct collect *c, const char *part)
{
    for (size_t i = 0; i < c->setup.n_notes; i++)
        if (strstr(c->setup.notes[i], part))
            return true;
    return false;
}

void library_without(const char *from, const char *symbol, const char *dir, char *path, size_t size)
{
    FILE *in = fopen(from, "rb"), *out;
    size_t len = strlen(symbol) + 1, n;
    int renamed = 0;
    char *bytes;
    long total;

    assert_non_null(in);
    assert_int_equal(fseek(in, 0, SEEK_END), 0);
    total = ftell(in);
    assert_true(total > 0);
    rewind(in);
    bytes = xmalloc((size_t)total);
    n = fread(bytes, 1, (size_t)total, in);
    assert_int_equal(n, total);
    fclose(in);
    /* A name in the table of names is the symbol between two NULs. */
    for (size_t i = 1; i + len <= n; i++) {
        if (bytes[i - 1] == '\0' && memcmp(bytes + i, symbol, len) == 0) {
            bytes[i] = '_';
            renamed++;
        }
    }
    assert_true(renamed > 0);
    snprintf(path, size, "%s/%s.so", dir, symbol);
    out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(bytes, 1, n, out), n);
    assert_int_equal(fclose(out), 0);
    free(bytes);
}

void clear_environment(const char *prefix)
{
    size_t i = 0;

    while (environ[i]) {
        char name[128];

        snprintf(name, sizeof(name), "%.*s", (int)strcspn(environ[i], "="), environ[i]);
        if (strncmp(name, prefix, strlen(prefix)) == 0)
            unsetenv(name);
        else
            i++;
    }
}
