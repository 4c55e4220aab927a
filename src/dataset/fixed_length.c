/*
 * Prompts of a given length for measuring how cost grows with it. Each begins with a number that no
 * other prompt of the set has, followed by sentences drawn word by word, so that no server can
 * answer one from the cache of another. The same seed gives the same prompts, on a second pass too:
 * for cold caches ask for as many samples as there are queries.
 */
#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/rng.h"
#include "dataset/params.h"
#include "dataset/sets.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define PROMPT_BYTES_MAX ((int64_t)64 << 20)

struct fixed_length {
    int64_t prompt_length; /* tokens */
    int64_t chars_per_token;
    int64_t n;
    int64_t next;
    uint64_t seed;
    struct buf prompt;
    struct json metadata[4]; /* the object and its three members */
};

static const char *const subjects[] = {
    "A careful gardener", "The night train",    "An old lighthouse", "My neighbour's clock",
    "The river crossing", "A small bakery",     "The map maker",     "One quiet librarian",
    "The harbour office", "A stone bridge",     "The weather log",   "Our mountain guide",
    "The glass workshop", "A patient teacher",  "The winter market", "Someone with a ladder",
    "The copper kettle",  "A visiting painter", "The long corridor", "An early bus",
};
static const char *const verbs[] = {
    "kept a list of", "was known for", "slowly repaired",     "depended on",          "gave away",
    "measured",       "carried home",  "wrote letters about", "never mentioned",      "counted",
    "had to explain", "painted over",  "looked closely at",   "could not do without", "once lost",
    "put a price on",
};
static const char *const objects[] = {
    "seven wooden crates",     "the colour of the water", "every visitor's name",
    "a broken barometer",      "the last warm evenings",  "two kinds of bread",
    "a drawer full of keys",   "the distance to the sea", "songs without words",
    "the price of lamp oil",   "a bundle of old tickets", "rain on the tin roof",
    "the shape of the valley", "a jar of blue ink",       "forgotten appointments",
    "the sound of the mill",   "half a loaf of rye",      "a very short ladder",
};
static const char *const endings[] = {
    "before the shops opened.",   "for most of that year.",     "as nobody else would.",
    "while the kettle boiled.",   "until the road was closed.", "and told no one.",
    "on the first of the month.", "with great patience.",       "without being asked.",
    "in spite of the cold.",      "and was glad of it.",        "near the end of summer.",
};

#define PICK(rng, list) ((list)[rng_below((rng), sizeof(list) / sizeof(*(list)))])

static const char instruction[] = "\n\nSay in one sentence what this text is about.";

/* Different for every sample of a seed: an odd factor maps 32 bits one to one. */
static uint32_t sample_number(uint64_t seed, int64_t sample)
{
    struct rng rng;

    rng = rng_seed(seed, RNG_STREAM_SAMPLE);
    return (uint32_t)sample * UINT32_C(0x9E3779B1) + (uint32_t)rng_u64(&rng);
}

/* Exactly `wanted` characters: sentences, cut, and the instruction where there is room for both. */
static void write_prompt(struct buf *out, struct rng *rng, uint32_t number, size_t wanted)
{
    size_t tail = sizeof(instruction) - 1;
    size_t body = wanted >= 2 * tail ? wanted - tail : wanted;

    buf_clear(out);
    buf_addf(out, "%08" PRIx32 ".", number);
    while (out->len < body)
        buf_addf(out, " %s %s %s %s", PICK(rng, subjects), PICK(rng, verbs), PICK(rng, objects),
                 PICK(rng, endings));
    out->len = body;
    if (body < wanted)
        buf_adds(out, instruction);
    out->data[out->len] = '\0';
}

static void set_metadata(struct fixed_length *f, int64_t sample)
{
    static const char *const keys[] = {"target_token_length", "chars_per_token", "sample_id"};
    const int64_t values[] = {f->prompt_length, f->chars_per_token, sample};

    f->metadata[0] = (struct json){.type = JSON_OBJECT, .len = 3, .child = &f->metadata[1]};
    for (int i = 0; i < 3; i++)
        f->metadata[i + 1] = (struct json){.type = JSON_INT,
                                           .integer = values[i],
                                           .key = keys[i],
                                           .key_len = strlen(keys[i]),
                                           .next = i < 2 ? &f->metadata[i + 2] : NULL};
}

static int fixed_length_next(void *ctx, struct item *ret, struct err *err)
{
    struct fixed_length *f = ctx;
    struct rng rng;

    (void)err;
    if (f->next == f->n)
        return 0;
    /* each its own stream, apart from those of the runner */
    rng = rng_seed(f->seed, (UINT64_C(1) << 63) + (uint64_t)f->next);
    write_prompt(&f->prompt, &rng, sample_number(f->seed, f->next),
                 (size_t)(f->prompt_length * f->chars_per_token));
    set_metadata(f, f->next);
    *ret = (struct item){.index = f->next++,
                         .problem = f->prompt.data,
                         .answer = "",
                         .subject = "synthetic",
                         .metadata = f->metadata};
    return 1;
}

static int fixed_length_rewind(void *ctx, struct err *err)
{
    struct fixed_length *f = ctx;

    (void)err;
    f->next = 0;
    return 0;
}

static int64_t fixed_length_size(void *ctx)
{
    const struct fixed_length *f = ctx;

    return f->n;
}

static void fixed_length_close(void *ctx)
{
    struct fixed_length *f = ctx;

    if (!f)
        return;
    buf_release(&f->prompt);
    free(f);
}

static int fixed_length_open(const struct dataset_config *config, void **ret_ctx, struct err *err)
{
    static const char *const params[] = {"prompt_length", "num_samples", "chars_per_token", NULL};
    struct fixed_length f = {.seed = config->seed, .prompt = BUF_INIT(BUF_MAX_OWN)};
    const struct kv_list *p = config->params;
    int r = params_check(p, params, err);

    if (r < 0 ||
        (r = params_int(p, "prompt_length", 100, 1, PROMPT_BYTES_MAX, &f.prompt_length, err)) < 0 ||
        (r = params_int(p, "num_samples", 8, 1, INT32_MAX, &f.n, err)) < 0 ||
        (r = params_int(p, "chars_per_token", 5, 1, 1000, &f.chars_per_token, err)) < 0)
        return r;
    if (f.prompt_length * f.chars_per_token > PROMPT_BYTES_MAX)
        return err_set(err, ERANGE, "a prompt of that length would have more than 64 MiB");
    *ret_ctx = xmemdup(&f, sizeof(f));
    return 0;
}

const struct dataset_ops dataset_fixed_length_ops = {
    .plugin = {.id = "fixed_length",
               .help = "made-up prompts of one length, each with its own text "
                       "(params: prompt_length=100 tokens, num_samples=8, chars_per_token=5)"},
    .title = "fixed_length",
    .open = fixed_length_open,
    .next = fixed_length_next,
    .rewind = fixed_length_rewind,
    .size = fixed_length_size,
    .close = fixed_length_close,
};
