#include "dataset/params.h"
#include "dataset/sets.h"
#include "dataset/table.h"

#include <errno.h>

/* `subject` chooses items, so the column that holds the subject has a longer name. */
static const char *const params[] = {"path",           "split",  "problem",    "answer",
                                     "subject_column", "scorer", TABLE_PARAMS, NULL};

static int file_open(const struct dataset_config *config, void **ret_ctx, struct err *err)
{
    const char *path = config->path ? config->path : params_text(config->params, "path");
    struct mapping mapping = {
        .map = map_columns,
        .problem = params_text(config->params, "problem"),
        .answer = params_text(config->params, "answer"),
        .subject = params_text(config->params, "subject_column"),
        .scorer = params_text(config->params, "scorer"),
    };
    struct rows *rows;
    int r = params_check(config->params, params, err);

    if (r < 0)
        return r;
    if (!path)
        return err_set(err, EINVAL, "give the file's path as --dataset, or --dataset-param path=");
    r = rows_open(path, params_text(config->params, "split"), &rows, err);
    return r < 0 ? r : table_open_take(rows, &mapping, config, ret_ctx, err);
}

const struct dataset_ops dataset_file_ops = {
    .plugin = {.id = "file",
               .help = "a .jsonl or .csv file or HuggingFace directory, by its path as --dataset "
                       "(params: problem=, answer=, subject_column=, scorer= name columns; "
                       "subject=, shuffle= choose items)"},
    .title = "file",
    .open = file_open,
    .next = table_next,
    .rewind = table_rewind,
    .size = table_size,
    .rejects = table_rejects,
    .close = table_close,
};
