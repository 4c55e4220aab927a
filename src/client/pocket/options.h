/*
 * options: how the embedded model is to answer.
 *
 * The same for a query of the client (--param) and a request to the server (members of its JSON),
 * so both understand and refuse the same values.
 *
 *     struct pocket_options o = POCKET_OPTIONS_DEFAULT;
 *     r = pocket_options_set(&o, "temperature", value, &err);
 */
#ifndef IPW_CLIENT_POCKET_OPTIONS_H
#define IPW_CLIENT_POCKET_OPTIONS_H

#include "base/err.h"
#include "base/json.h"
#include "client/pocket/stops.h"

#include <stddef.h>
#include <stdint.h>

#define POCKET_MAX_TOKENS_DEFAULT 64

struct pocket_options {
    double temperature; /* 0 = always the most likely token */
    int top_k;          /* 0 = all */
    double top_p;       /* 1 = all */
    int64_t max_tokens; /* -1 = as many as the context has room for */
    uint64_t seed;      /* the same request with the same seed gets the same answer */
    struct stop_string stops[STOPS_MAX];
    size_t n_stops;
};

#define POCKET_OPTIONS_DEFAULT                              \
    {                                                       \
        .top_p = 1, .max_tokens = POCKET_MAX_TOKENS_DEFAULT \
    }

/* The names, NULL-ended: temperature, top_k, top_p, max_tokens, seed, stop. */
extern const char *const pocket_option_names[];

/* Sets one of them; JSON null leaves it as it is. -ENOENT: there is no such option (no words);
 * -EINVAL: not such a value, with words to which the caller adds the name. */
int pocket_options_set(struct pocket_options *o, const char *name, const struct json *value,
                       struct err *err);

#endif
