/*
 * collect: a collector opened and read by a test, without a sampler.
 *
 *     struct collect c;
 *     collect_open(&c, "nvml", &(struct telemetry_env){.nvml_lib = FAKES "/fake_nvml.so"});
 *     assert_int_equal(collect_read(&c), 0);
 *     assert_near(collect_value(&c, 0, QUANTITY_POWER_W), 100, 0);
 *     collect_close(&c);
 */
#ifndef IPW_TESTS_COLLECT_H
#define IPW_TESTS_COLLECT_H

#include "telemetry/collector.h"

#define COLLECT_NONE ((size_t)-1)

struct collect_put {
    size_t channel;
    mono_ns before;
    mono_ns after;
    double value;
};

struct collect {
    struct sample_sink sink; /* first: put() gets it back */
    const struct collector_ops *ops;
    struct telemetry_env env;
    struct collector_setup setup;
    void *ctx;
    struct err err;
    struct collect_put *puts; /* of the latest collect_read */
    size_t n_puts, cap_puts;
};

/* Returns open()'s result; its words are in c->err. A failed one leaves nothing to close. */
int collect_try(struct collect *c, const char *id, const struct telemetry_env *env);
/* The same, and fails the test when it does not open. */
void collect_open(struct collect *c, const char *id, const struct telemetry_env *env);
/* One read(): forgets the puts before it. */
int collect_read(struct collect *c);
void collect_close(struct collect *c);

/* The number of the device's first channel of this quantity that comes from no ring, else
 * COLLECT_NONE. */
size_t collect_channel(const struct collect *c, int device_number, enum quantity q);
/* The channel of this name and quantity, else COLLECT_NONE. */
size_t collect_named(const struct collect *c, const char *name, enum quantity q);
/* The last put of that channel; NULL when the latest read put none. */
const struct collect_put *collect_last(const struct collect *c, size_t channel);
/* Its value; NAN when there is no such channel or it was not put. */
double collect_value(const struct collect *c, int device_number, enum quantity q);
/* Is there a note that contains this? */
bool collect_noted(const struct collect *c, const char *part);

/* Copies a library into dir/<symbol>.so with that symbol renamed, so that it cannot be found. */
void library_without(const char *from, const char *symbol, const char *dir, char *path,
                     size_t size);
/* Removes from the environment every variable whose name begins so. */
void clear_environment(const char *prefix);

#endif
