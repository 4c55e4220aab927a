#include "client/pocket/options.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

static int set_temperature(struct pocket_options *o, const struct json *value, struct err *err)
{
    double t = json_real(value, NAN);

    if (!(t >= 0 && t <= 100))
        return err_set(err, EINVAL, "a number from 0 to 100 is expected");
    o->temperature = t;
    return 0;
}

static int set_top_k(struct pocket_options *o, const struct json *value, struct err *err)
{
    int64_t k = json_int(value, INT64_MIN);

    if (k < -1) /* vLLM's way to say "all" is -1 */
        return err_set(err, EINVAL, "a whole number from 0 (all) is expected");
    o->top_k = k < 0 ? 0 : k > INT_MAX ? INT_MAX : (int)k;
    return 0;
}

static int set_top_p(struct pocket_options *o, const struct json *value, struct err *err)
{
    double p = json_real(value, NAN);

    if (!(p > 0 && p <= 1))
        return err_set(err, EINVAL, "a number above 0, at most 1, is expected");
    o->top_p = p;
    return 0;
}

static int set_max_tokens(struct pocket_options *o, const struct json *value, struct err *err)
{
    int64_t n = json_int(value, 0);

    if (n < 1 && n != -1)
        return err_set(err, EINVAL, "a whole number from 1, or -1, is expected");
    o->max_tokens = n;
    return 0;
}

static int set_seed(struct pocket_options *o, const struct json *value, struct err *err)
{
    if (!json_is(value, JSON_INT))
        return err_set(err, EINVAL, "a whole number is expected");
    o->seed = (uint64_t)value->integer;
    return 0;
}

static int add_stop(struct pocket_options *o, const struct json *value, struct err *err)
{
    struct stop_string *s = &o->stops[o->n_stops];

    if (!json_is(value, JSON_STRING) || value->len == 0)
        return err_set(err, EINVAL,
                       "a text that is not empty, or a list of such texts, is "
                       "expected");
    if (o->n_stops == STOPS_MAX)
        return err_set(err, EINVAL, "more than %d texts", STOPS_MAX);
    if (value->len > STOP_BYTES_MAX)
        return err_set(err, EINVAL, "a text is longer than %d bytes", STOP_BYTES_MAX);
    memcpy(s->text, value->text, value->len);
    s->n = value->len;
    o->n_stops++;
    return 0;
}

static int set_stop(struct pocket_options *o, const struct json *value, struct err *err)
{
    int r = 0;

    o->n_stops = 0;
    if (!json_is(value, JSON_ARRAY))
        return add_stop(o, value, err);
    JSON_FOREACH (item, value)
        if (r == 0)
            r = add_stop(o, item, err);
    return r;
}

const char *const pocket_option_names[] = {"temperature", "top_k", "top_p", "max_tokens",
                                           "seed",        "stop",  NULL};

static int (*const setters[])(struct pocket_options *o, const struct json *value,
                              struct err *err) = {set_temperature, set_top_k, set_top_p,
                                                  set_max_tokens,  set_seed,  set_stop};

int pocket_options_set(struct pocket_options *o, const char *name, const struct json *value,
                       struct err *err)
{
    for (size_t i = 0; pocket_option_names[i]; i++)
        if (strcmp(pocket_option_names[i], name) == 0)
            return !value || json_is(value, JSON_NULL) ? 0 : setters[i](o, value, err);
    return -ENOENT;
}
