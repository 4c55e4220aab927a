/*
 * Names are cut into words: at anything but letters and digits, except a point between digits
 * ("3.2"). A model's family is all words before its size, run together ("Llama-3.2" and "llama3.2"
 * are both "llama3.2"); words that only say how it was tuned or packed are dropped.
 */
#include "record/flops.h"

#include "base/num.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#define WORDS_MAX 32
#define NAME_MAX  256

struct words {
    char text[NAME_MAX]; /* lower case, each word ends in NUL */
    const char *items[WORDS_MAX];
    size_t n;
};

static bool in_word(const char *s, size_t i)
{
    unsigned char c = (unsigned char)s[i];

    if (c == '.')
        return i > 0 && isdigit((unsigned char)s[i - 1]) && isdigit((unsigned char)s[i + 1]);
    return isalnum(c) || c >= 0x80;
}

/* False when it has too many words, or is too long, to be a name we know. */
static bool split(const char *name, struct words *ret)
{
    size_t n = strlen(name);

    ret->n = 0;
    if (n >= NAME_MAX)
        return false;
    for (size_t i = 0; i < n; i++) {
        bool begins = in_word(name, i) && (i == 0 || !in_word(name, i - 1));

        if (begins && ret->n == WORDS_MAX)
            return false;
        if (begins)
            ret->items[ret->n++] = ret->text + i;
        ret->text[i] = in_word(name, i) ? (char)tolower((unsigned char)name[i]) : '\0';
    }
    ret->text[n] = '\0';
    return true;
}

/* Models. Billions; active 0 = all of them. */
static const struct model {
    const char *family;
    const char *size; /* as the name says it; "" = the family has one */
    double total_b, active_b;
} models[] = {
    {"llama3.2", "1b", 1.24, 0},
    {"llama3.2", "3b", 3.21, 0},
    {"llama3.1", "8b", 8.03, 0},
    {"llama3.1", "70b", 70.6, 0},
    {"llama3.1", "405b", 405, 0},
    {"llama3.3", "70b", 70.6, 0},
    {"llama4scout", "", 109, 17},
    {"llama4maverick", "", 400, 17},
    {"qwen2.5", "0.5b", 0.49, 0},
    {"qwen2.5", "1.5b", 1.54, 0},
    {"qwen2.5", "3b", 3.09, 0},
    {"qwen2.5", "7b", 7.62, 0},
    {"qwen2.5", "14b", 14.8, 0},
    {"qwen2.5", "32b", 32.5, 0},
    {"qwen2.5", "72b", 72.7, 0},
    {"qwen3", "30b", 30, 3},
    {"qwen3", "235b", 235, 22},
    {"mistral", "7b", 7.24, 0},
    {"mixtral", "8x7b", 46.7, 12.9},
    {"mixtral", "8x22b", 141, 39},
    {"gptoss", "20b", 20.9, 3.6},
    {"gptoss", "120b", 116.8, 5.1},
    {"deepseekr1", "671b", 671, 37},
    {"deepseekv3", "", 671, 37},
    {"deepseekv3", "671b", 671, 37},
    {"deepseekv2.5", "", 236, 21},
    {"deepseekv2.5", "236b", 236, 21},
    {"deepseekcoderv2", "16b", 15.7, 2.4},
    {"deepseekcoderv2", "236b", 236, 21},
    {"phi3mini", "", 3.82, 0},
    {"phi3small", "", 7.39, 0},
    {"phi3medium", "", 14, 0},
    {"phi4", "", 14, 0},
    {"phi4mini", "", 3.8, 0},
    {"gemma2", "2b", 2.61, 0},
    {"gemma2", "9b", 9.24, 0},
    {"gemma2", "27b", 27.2, 0},
    {"afm3coreadvanced", "", 4, 0},
    {"afm3core", "", 3, 0},
    {"afm3", "", 3, 0},
};

/* "7b", "0.5b", "135m" in parameters, "a3b" when a number of active ones is wanted; else NAN. */
static double stated_params(const char *word, bool active)
{
    char digits[12];
    double value;
    size_t n;

    if (active && *word++ != 'a')
        return NAN;
    n = strspn(word, "0123456789.");
    if (n == 0 || n >= sizeof(digits) || !word[n] || word[n + 1])
        return NAN;
    memcpy(digits, word, n);
    digits[n] = '\0';
    if (parse_f64(digits, &value, NULL) < 0 || value <= 0)
        return NAN;
    return word[n] == 'b' ? value * 1e9 : word[n] == 'm' ? value * 1e6 : NAN;
}

/* "8x7b": that many experts, of which the name does not say how many are active. */
static bool is_mixture(const char *word)
{
    size_t digits = strspn(word, "0123456789");

    return digits > 0 && word[digits] == 'x' && !isnan(stated_params(word + digits + 1, false));
}

static bool is_size(const char *word)
{
    return !isnan(stated_params(word, false)) || is_mixture(word);
}

/* How it was tuned or packed, not what it is. */
static bool is_decoration(const char *word)
{
    static const char *const known[] = {"instruct", "chat", "it",   "base", "latest", "fp8",
                                        "fp16",     "fp32", "bf16", "int4", "int8",   "awq",
                                        "gptq",     "gguf", "4bit", "8bit", "mlx",    "hf"};
    size_t digits = strspn(word, "0123456789");

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return digits > 0 && strcmp(word + digits, "k") == 0; /* context length */
}

/* Runs words [0, n) together. */
static void join(const struct words *w, size_t n, char *ret)
{
    size_t length = 0;

    for (size_t i = 0; i < n; i++) {
        size_t m = strlen(w->items[i]);

        if (is_decoration(w->items[i]))
            continue;
        memcpy(ret + length, w->items[i], m);
        length += m;
    }
    ret[length] = '\0';
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);

    return n >= m && strcmp(s + n - m, end) == 0;
}

static double table_params(const char *family, const char *size)
{
    for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
        const struct model *m = &models[i];
        /* "meta-llama-3.1-8b" is the same; without a size only the very name will do. */
        bool same = *size ? ends_with(family, m->family) : strcmp(family, m->family) == 0;

        if (same && strcmp(size, m->size) == 0)
            return (m->active_b > 0 ? m->active_b : m->total_b) * 1e9;
    }
    return NAN;
}

double flops_active_params(const char *model)
{
    struct words w;
    char family[NAME_MAX];
    const char *slash = model ? strrchr(model, '/') : NULL;
    size_t size = WORDS_MAX;
    double params;

    if (!model || !split(slash ? slash + 1 : model, &w) || w.n == 0)
        return NAN;
    for (size_t i = 0; i < w.n; i++) {
        double active = stated_params(w.items[i], true);

        if (!isnan(active) && size < i)
            return active;
        if (!is_size(w.items[i]))
            continue;
        if (size != WORDS_MAX && strcmp(w.items[i], w.items[size]) != 0)
            return NAN;
        size = size == WORDS_MAX ? i : size;
    }
    join(&w, size == WORDS_MAX ? w.n : size, family);
    params = table_params(family, size == WORDS_MAX ? "" : w.items[size]);
    if (isnan(params) && size != WORDS_MAX)
        params = stated_params(w.items[size], false);
    return params;
}

/* GPUs: dense BF16. */
static const struct gpu {
    const char *name;
    double tflops;
} gpus[] = {
    {"h100 pcie", 756}, {"h100", 989.5},    {"h100 nvl", 835.5},   {"h200", 989.5},
    {"b200", 2250},     {"b100", 1750},     {"gb200", 2250},       {"rtx 4090", 165.2},
    {"rtx 4080", 97.5}, {"rtx 4070", 58.6}, {"rtx 4070 ti", 73.4}, {"l40s", 183},
    {"l40", 181},       {"l4", 30.3},       {"a100", 312},         {"a6000", 77.4},
    {"a10", 62.5},      {"rtx 3090", 71},   {"rtx 3080", 47.2},    {"v100", 28.3},
    {"mi300x", 1307.4}, {"mi250x", 383},    {"mi210", 181},
};

/* Words that make it another chip. */
static bool is_variant(const char *word)
{
    static const char *const known[] = {"ti",  "super", "laptop", "mobile",  "max",
                                        "nvl", "d",     "ada",    "notebook"};

    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (strcmp(word, known[i]) == 0)
            return true;
    return false;
}

/* How many words of the GPU's name the entry's are, in their order; 0 = not this one. */
static size_t words_matched(const struct words *name, const struct words *entry)
{
    size_t matched = 0;

    for (size_t i = 0; i < name->n; i++) {
        if (matched < entry->n && strcmp(name->items[i], entry->items[matched]) == 0)
            matched++;
        else if (is_variant(name->items[i]))
            return 0;
    }
    return matched == entry->n ? matched : 0;
}

double flops_peak_tflops(const char *gpu)
{
    struct words name, entry;
    size_t longest = 0;
    double tflops = NAN;

    if (!gpu || !split(gpu, &name))
        return NAN;
    for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
        size_t matched = split(gpus[i].name, &entry) ? words_matched(&name, &entry) : 0;

        if (matched > longest) {
            longest = matched;
            tflops = gpus[i].tflops;
        }
    }
    return tflops;
}

double flops_of_tokens(double active_params, int64_t tokens)
{
    return tokens < 0 ? NAN : 2 * active_params * (double)tokens;
}

double flops_mfu(double flops, double seconds, double peak_tflops, int n_gpus)
{
    if (!(flops > 0) || !(seconds > 0) || !(peak_tflops > 0) || n_gpus < 1)
        return NAN;
    return flops / seconds / (peak_tflops * 1e12 * n_gpus);
}
