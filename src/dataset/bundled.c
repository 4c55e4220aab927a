/*
 * The questions of data/ipw/ipw.jsonl, which the build puts into the program as they are.
 */
#include "dataset/params.h"
#include "dataset/sets.h"
#include "dataset/table.h"

/* Made by data/embed.c. */
extern const char ipw_jsonl[];
extern const size_t ipw_jsonl_size;

static int bundled_open(const struct dataset_config *config, void **ret_ctx, struct err *err)
{
    static const char *const params[] = {TABLE_PARAMS, NULL};
    struct mapping mapping = {.map = map_columns};
    int r = params_check(config->params, params, err);

    if (r < 0)
        return r;
    return table_open_take(rows_open_jsonl_memory("ipw", ipw_jsonl, ipw_jsonl_size), &mapping,
                           config, ret_ctx, err);
}

const struct dataset_ops dataset_ipw_ops = {
    .plugin = {.id = "ipw",
               .help = "the bundled questions of 18 subjects, from sums to word problems "
                       "(params: subject=, shuffle=)"},
    .title = "ipw",
    .open = bundled_open,
    .next = table_next,
    .rewind = table_rewind,
    .size = table_size,
    .rejects = table_rejects,
    .close = table_close,
};
