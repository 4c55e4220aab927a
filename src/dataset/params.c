#include "dataset/params.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static int unknown(const char *key, const char *const *valid, struct err *err)
{
    AUTO(buf) struct buf all = BUF_INIT(BUF_MAX_OWN);
    struct suggest s = suggest_for(key);

    for (; *valid; valid++) {
        suggest_offer(&s, *valid);
        buf_addf(&all, "%s%s", all.len ? ", " : "", *valid);
    }
    if (s.best)
        return err_set(err, EINVAL, "unknown dataset parameter '%.60s': did you mean '%s'?", key,
                       s.best);
    return err_set(err, EINVAL, "unknown dataset parameter '%.60s' (there are: %s)", key,
                   buf_str(&all));
}

int params_check(const struct kv_list *params, const char *const *valid, struct err *err)
{
    for (size_t i = 0; params && i < params->n; i++) {
        const char *const *v = valid;

        while (*v && strcmp(*v, params->items[i].key) != 0)
            v++;
        if (!*v)
            return unknown(params->items[i].key, valid, err);
    }
    return 0;
}

const char *params_text(const struct kv_list *params, const char *key)
{
    return params ? kv_get(params, key) : NULL;
}

int params_bool(const struct kv_list *params, const char *key, bool fallback, bool *ret,
                struct err *err)
{
    static const char *const words[] = {"false", "true", "no", "yes", "0", "1"};
    const char *text = params_text(params, key);

    if (!text) {
        *ret = fallback;
        return 0;
    }
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        if (strcmp(words[i], text) == 0) {
            *ret = i % 2;
            return 0;
        }
    }
    return err_set(err, EINVAL, "dataset parameter %s: '%.60s' is neither true nor false", key,
                   text);
}

int params_int(const struct kv_list *params, const char *key, int64_t fallback, int64_t min,
               int64_t max, int64_t *ret, struct err *err)
{
    const char *text = params_text(params, key);
    int64_t value = fallback;
    int r;

    if (text) {
        r = parse_i64(text, &value, err);
        if (r < 0)
            return err ? err_prefix(err, "dataset parameter %s", key) : r;
    }
    if (value < min || value > max)
        return err_set(err, ERANGE, "dataset parameter %s must be between %" PRId64 " and %" PRId64,
                       key, min, max);
    *ret = value;
    return 0;
}
