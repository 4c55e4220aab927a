/*
 * Published sets from a local copy: each recipe says which columns hold what, how the prompt is put
 * together and how an answer is scored. The wording of the prompts is ours. The options of GPQA
 * have no order of their own (the right one has a column to itself), so they are put in one that
 * follows from the seed and the row: the same on every run, and on a resumed one.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/rng.h"
#include "dataset/params.h"
#include "dataset/sets.h"
#include "dataset/table.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define OPTIONS_MAX 26

/* A stream for each row, apart from those of the runner. */
#define RNG_STREAM_OF_ROW(number) ((UINT64_C(1) << 63) + (uint64_t)(number))

/* A column that must be there, without the blanks around its text. */
static int need_text(struct mapping *m, const struct json *row, const char *key, const char **ret,
                     struct err *err)
{
    const char *text;
    size_t n;
    int r = column_text(m, row, key, &text, err);

    if (r < 0)
        return r;
    while (text && isspace((unsigned char)*text))
        text++;
    if (!text || !*text)
        return err_set(err, EINVAL, "no column '%s'", key);
    n = strlen(text);
    while (isspace((unsigned char)text[n - 1]))
        n--;
    *ret = text[n] ? arena_strndup(&m->arena, text, n) : text;
    return 0;
}

static const char *or_general(const char *text)
{
    return text ? text : "general";
}

static const char *keep(struct mapping *m, const struct buf *text)
{
    return arena_strndup(&m->arena, buf_str(text), text->len);
}

static const char *with_instruction(struct mapping *m, const char *question,
                                    const char *instruction)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);

    buf_addf(&text, "%s\n\n%s", question, instruction);
    return keep(m, &text);
}

static const char *choice_prompt(struct mapping *m, const char *question,
                                 const char *const *options, size_t n)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);

    buf_addf(&text, "%s\n\nOptions:\n", question);
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%c. %s\n", (char)('A' + i), options[i]);
    buf_adds(&text, "\nAnswer with the letter of the correct option.");
    return keep(m, &text);
}

static int read_options(const struct json *row, const char **options, size_t *ret_n,
                        struct err *err)
{
    const struct json *list = json_get(row, "options");
    size_t n = 0;

    if (!json_is(list, JSON_ARRAY) || list->len < 2 || list->len > OPTIONS_MAX)
        return err_set(err, EINVAL, "'options' is not a list of 2 to %d", OPTIONS_MAX);
    JSON_FOREACH (option, list) {
        options[n] = json_text(option, NULL);
        if (!options[n] || strlen(options[n]) != option->len)
            return err_set(err, EINVAL, "an option is not text");
        n++;
    }
    *ret_n = n;
    return 0;
}

/* MMLU-Pro and SuperGPQA: a list of options and the letter of the right one. */
static int map_lettered(struct mapping *m, const struct json *row, const char *letter_column,
                        const char *subject_column, struct item *ret, struct err *err)
{
    const char *question, *letter, *subject, *options[OPTIONS_MAX];
    size_t n = 0;
    int r;

    if ((r = need_text(m, row, "question", &question, err)) < 0 ||
        (r = need_text(m, row, letter_column, &letter, err)) < 0 ||
        (r = column_text(m, row, subject_column, &subject, err)) < 0 ||
        (r = read_options(row, options, &n, err)) < 0)
        return r;
    if (letter[1] || *letter < 'A' || *letter >= (char)('A' + n))
        return err_set(err, EINVAL, "the answer '%.20s' is none of the %zu options", letter, n);
    ret->problem = choice_prompt(m, question, options, n);
    ret->answer = letter;
    ret->subject = or_general(subject);
    return 0;
}

static int map_mmlu_pro(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                        struct err *err)
{
    (void)number;
    return map_lettered(m, row, "answer", "category", ret, err);
}

static int map_supergpqa(struct mapping *m, const struct json *row, int64_t number,
                         struct item *ret, struct err *err)
{
    (void)number;
    return map_lettered(m, row, "answer_letter", "discipline", ret, err);
}

static int map_gpqa(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                    struct err *err)
{
    static const char *const columns[] = {"Correct Answer", "Incorrect Answer 1",
                                          "Incorrect Answer 2", "Incorrect Answer 3"};
    static const char *const letters[] = {"A", "B", "C", "D"};
    const char *question, *subject, *options[4];
    size_t right = 0;
    struct rng rng;
    int r;

    if ((r = need_text(m, row, "Question", &question, err)) < 0 ||
        (r = column_text(m, row, "High-level domain", &subject, err)) < 0)
        return r;
    for (size_t i = 0; i < 4; i++)
        if ((r = need_text(m, row, columns[i], &options[i], err)) < 0)
            return r;
    rng = rng_seed(m->seed, RNG_STREAM_OF_ROW(number));
    for (size_t i = 3; i > 0; i--) {
        size_t k = (size_t)rng_below(&rng, i + 1);
        const char *other = options[k];

        options[k] = options[i];
        options[i] = other;
        right = right == k ? i : right == i ? k : right;
    }
    ret->problem = choice_prompt(m, question, options, 4);
    ret->answer = letters[right];
    ret->subject = or_general(subject);
    return 0;
}

static int map_math500(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                       struct err *err)
{
    const char *problem, *subject;
    int r;

    (void)number;
    if ((r = need_text(m, row, "problem", &problem, err)) < 0 ||
        (r = need_text(m, row, "answer", &ret->answer, err)) < 0 ||
        (r = column_text(m, row, "subject", &subject, err)) < 0)
        return r;
    ret->problem = with_instruction(m, problem, "Put the final answer in \\boxed{}.");
    ret->subject = or_general(subject);
    return 0;
}

/* The answer column is a worked solution whose last line is "#### 42". */
static int map_gsm8k(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                     struct err *err)
{
    const char *question, *solution, *mark;
    int r;

    (void)number;
    if ((r = need_text(m, row, "question", &question, err)) < 0 ||
        (r = need_text(m, row, "answer", &solution, err)) < 0)
        return r;
    mark = strstr(solution, "####");
    ret->answer = mark ? mark + 4 + strspn(mark + 4, " ") : solution;
    ret->problem = with_instruction(m, question, "Write the final number on a line of its own.");
    ret->subject = "math";
    return 0;
}

/* The topic has a column, or is in the original file's `metadata`, written as Python prints a
 * dictionary: {'topic': 'Art', ...}. */
static const char *simpleqa_topic(struct mapping *m, const struct json *row)
{
    static const char lead[] = "'topic': '";
    const char *topic = json_text(json_get(row, "topic"), NULL);
    const char *start = strstr(json_text(json_get(row, "metadata"), ""), lead);
    const char *end = start ? strchr(start + sizeof(lead) - 1, '\'') : NULL;

    if (!topic && end) {
        start += sizeof(lead) - 1;
        topic = arena_strndup(&m->arena, start, (size_t)(end - start));
    }
    return or_general(topic);
}

static int map_simpleqa(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                        struct err *err)
{
    int r;

    (void)number;
    if ((r = need_text(m, row, "problem", &ret->problem, err)) < 0 ||
        (r = need_text(m, row, "answer", &ret->answer, err)) < 0)
        return r;
    ret->subject = simpleqa_topic(m, row);
    return 0;
}

/* One question in five has no reference answer. */
static int map_natural_reasoning(struct mapping *m, const struct json *row, int64_t number,
                                 struct item *ret, struct err *err)
{
    const char *answer;
    int r;

    (void)number;
    if ((r = need_text(m, row, "question", &ret->problem, err)) < 0 ||
        (r = column_text(m, row, "reference_answer", &answer, err)) < 0)
        return r;
    ret->answer = answer ? answer : "";
    ret->subject = "general";
    return 0;
}

static const struct json *first_turn(const struct json *conversation, const char *role)
{
    JSON_FOREACH (turn, conversation)
        if (strcmp(json_text(json_get(turn, "role"), ""), role) == 0)
            return turn;
    return NULL;
}

static int map_wildchat(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                        struct err *err)
{
    const struct json *conversation = json_get(row, "conversation");
    const struct json *user = first_turn(conversation, "user");
    const struct json *assistant = first_turn(conversation, "assistant");
    const char *answer, *language;
    int r;

    (void)number;
    if (!user)
        return err_set(err, EINVAL, "no user turn in 'conversation'");
    if ((r = need_text(m, user, "content", &ret->problem, err)) < 0 ||
        (r = column_text(m, assistant, "content", &answer, err)) < 0 ||
        (r = column_text(m, row, "language", &language, err)) < 0)
        return r;
    ret->answer = answer ? answer : "";
    ret->subject = or_general(language);
    return 0;
}

static int open_recipe(const char *id, mapping_fn map, const struct dataset_config *config,
                       void **ret_ctx, struct err *err)
{
    static const char *const params[] = {"path", "split", TABLE_PARAMS, NULL};
    const char *path = params_text(config->params, "path");
    struct mapping mapping = {.map = map};
    struct rows *rows;
    int r = params_check(config->params, params, err);

    if (r < 0)
        return r;
    if (!path)
        return err_set(err, EINVAL,
                       "%s needs a local copy: --dataset-param path=FILE (.jsonl, .csv or a "
                       "HuggingFace directory)",
                       id);
    r = rows_open(path, params_text(config->params, "split"), &rows, err);
    return r < 0 ? r : table_open_take(rows, &mapping, config, ret_ctx, err);
}

#define RECIPE(name, id_text, title_text, scorer_id, help_text)                                  \
    static int open_##name(const struct dataset_config *config, void **ret_ctx, struct err *err) \
    {                                                                                            \
        return open_recipe(id_text, map_##name, config, ret_ctx, err);                           \
    }                                                                                            \
    const struct dataset_ops dataset_##name##_ops = {                                            \
        .plugin = {.id = (id_text),                                                              \
                   .help = help_text " from a local copy (params: path=, subject=, shuffle=)"},  \
        .title = (title_text),                                                                   \
        .scorer = (scorer_id),                                                                   \
        .open = open_##name,                                                                     \
        .next = table_next,                                                                      \
        .rewind = table_rewind,                                                                  \
        .size = table_size,                                                                      \
        .rejects = table_rejects,                                                                \
        .close = table_close,                                                                    \
    }

RECIPE(mmlu_pro, "mmlu-pro", "MMLU-Pro", "choice", "ten-way questions of 14 fields");
RECIPE(supergpqa, "supergpqa", "SuperGPQA", "choice", "graduate questions of 285 disciplines");
RECIPE(gpqa, "gpqa", "GPQA", "choice", "hard science questions, options ordered by --seed,");
RECIPE(math500, "math500", "MATH-500", "math", "competition mathematics");
RECIPE(gsm8k, "gsm8k", "GSM8K", "numeric", "grade school word problems");
RECIPE(simpleqa, "simpleqa", "SimpleQA", "judge:simpleqa", "short questions of fact");
RECIPE(natural_reasoning, "natural-reasoning", "NaturalReasoning", "judge:natural-reasoning",
       "open reasoning questions");
RECIPE(wildchat, "wildchat", "WildChat", "judge:wildchat", "first turns of real chats");
