/*
 * A marketing name is cut into words; what does not tell machines apart is dropped (makers, memory,
 * core counts, ornaments); of the rest, the model number counts: the first word with a digit, with
 * the word before it where the two belong together (RTX 4090), the ones after it that continue it
 * (A100-SXM4) or tell variants apart (4070 Ti, M2 Pro), and the number of devices (x8).
 */
#include "store/label.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 24
#define WORD_MAX  32

struct words {
    char text[WORDS_MAX][WORD_MAX];
    size_t n;
    int devices;
    char maker[WORD_MAX]; /* kept for a name that has nothing else */
};

static bool one_of(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcasecmp(word, *list) == 0)
            return true;
    return false;
}

static bool is_maker(const char *word)
{
    static const char *const makers[] = {"NVIDIA", "AMD",      "Intel", "Apple",
                                         "AWS",    "Qualcomm", "ARM",   NULL};

    return one_of(word, makers);
}

static bool is_ornament(const char *word)
{
    static const char *const ornaments[] = {
        "R",    "TM",          "C",         "nvgpu",      "CPU",      "CPUs",       "GPU",
        "GPUs", "Processor",   "Developer", "Kit",        "Graphics", "Generation", "Unknown",
        "with", "Engineering", "Reference", "Technology", NULL};

    return one_of(word, ornaments);
}

/* 80GB, 480GB, HBM3, HBM2e, GDDR6X */
static bool is_memory(const char *word)
{
    size_t digits = strspn(word, "0123456789");
    static const char *const units[] = {"MB", "GB", "TB", "MiB", "GiB", NULL};

    if (digits && one_of(word + digits, units))
        return true;
    return strncasecmp(word, "HBM", 3) == 0 || strncasecmp(word, "GDDR", 4) == 0 ||
           strncasecmp(word, "LPDDR", 5) == 0;
}

static bool is_variant(const char *word)
{
    static const char *const variants[] = {"Pro", "Max", "Ultra", "Ti",   "Super",
                                           "XT",  "XTX", "Ada",   "PCIe", "SXM",
                                           "NVL", "v2",  "v3",    "v4",   NULL};

    return one_of(word, variants);
}

static bool all_of(const char *word, int (*test)(int))
{
    for (; *word; word++)
        if (!test((unsigned char)*word))
            return false;
    return true;
}

static bool any_of(const char *word, int (*test)(int))
{
    for (; *word; word++)
        if (test((unsigned char)*word))
            return true;
    return false;
}

static bool has_digit(const char *word)
{
    return any_of(word, isdigit);
}

/* "x8" */
static bool is_count(const char *word)
{
    return (word[0] == 'x' || word[0] == 'X') && word[1] && all_of(word + 1, isdigit);
}

static void keep_word(struct words *w, const char *word, bool in_parentheses)
{
    if (is_count(word)) {
        w->devices = (int)strtol(word + 1, NULL, 10);
    } else if (in_parentheses && all_of(word, isdigit)) { /* "(2 GPUs)" */
        w->devices = (int)strtol(word, NULL, 10);
    } else if (is_maker(word)) {
        snprintf(w->maker, sizeof(w->maker), "%s", word);
    } else if (strncasecmp(word, "core", 4) == 0) { /* "16-Core", and the family "Core i7" */
        if (w->n > 0 && all_of(w->text[w->n - 1], isdigit))
            w->n--;
    } else if (!is_ornament(word) && !is_memory(word) && w->n < WORDS_MAX) {
        snprintf(w->text[w->n++], WORD_MAX, "%s", word);
    }
}

static void split(const char *name, struct words *w)
{
    bool in_parentheses = false;

    for (const char *p = name; *p && *p != '@';) { /* behind @ stands the clock speed */
        size_t len = 0;
        char word[WORD_MAX];

        while (isalnum((unsigned char)p[len]))
            len++;
        if (len) {
            snprintf(word, sizeof(word), "%.*s", (int)(len < 64 ? len : 64), p);
            keep_word(w, word, in_parentheses);
            p += len;
            continue;
        }
        in_parentheses = *p == '(' || (in_parentheses && *p != ')');
        p++;
    }
}

/* RTX 4090, EPYC 7763, i7-1185G7, A100-SXM4; not GeForce 4090, not 9 7950X. */
static bool belongs_to_next(const char *word, const char *next)
{
    bool uniform = all_of(word, isupper) || all_of(word, islower);

    if (!any_of(word, isalpha) || !has_digit(next))
        return false;
    return has_digit(word) || (uniform && strlen(word) <= 4);
}

static size_t model_number(const struct words *w)
{
    size_t first = w->n;

    for (size_t i = 0; i < w->n; i++) {
        if (!has_digit(w->text[i]))
            continue;
        if (any_of(w->text[i], isalpha) || (i > 0 && belongs_to_next(w->text[i - 1], w->text[i])))
            return i;
        if (first == w->n || strlen(w->text[i]) > strlen(w->text[first]))
            first = i;
    }
    return first;
}

static void compose(const struct words *w, struct buf *out)
{
    size_t i = model_number(w);

    if (i == w->n) { /* no number at all: the whole name */
        for (size_t k = 0; k < w->n; k++)
            buf_adds(out, w->text[k]);
        return;
    }
    /* a short bare number says nothing without the word before it: Pi 5, Adreno 740 */
    if (i > 0 && (belongs_to_next(w->text[i - 1], w->text[i]) ||
                  (all_of(w->text[i], isdigit) && strlen(w->text[i]) < 4)))
        buf_adds(out, w->text[i - 1]);
    buf_adds(out, w->text[i]);
    for (i++; i < w->n; i++) {
        if (!is_variant(w->text[i]) && !belongs_to_next(w->text[i - 1], w->text[i]))
            break;
        buf_adds(out, w->text[i]);
    }
}

/* NULL when the name says nothing; *ret_only_maker when it says no more than who made it. */
static char *label_of(const char *name, bool *ret_only_maker)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct words w = {.devices = 1};

    split(name ? name : "", &w);
    compose(&w, &out);
    *ret_only_maker = out.len == 0;
    if (out.len == 0)
        buf_adds(&out, w.maker);
    if (out.len == 0)
        return NULL;
    if (!any_of(out.data, isupper))
        for (size_t i = 0; i < out.len; i++)
            out.data[i] = (char)toupper((unsigned char)out.data[i]);
    if (w.devices > 1)
        buf_addf(&out, "x%d", w.devices);
    return buf_take(&out);
}

char *hardware_label(const char *gpu_name, const char *cpu_brand)
{
    bool gpu_only_maker, cpu_only_maker;
    AUTO_FREE char *gpu = label_of(gpu_name, &gpu_only_maker);
    AUTO_FREE char *cpu = label_of(cpu_brand, &cpu_only_maker);

    if (gpu && (!gpu_only_maker || !cpu || cpu_only_maker))
        return STEAL(gpu);
    return cpu ? STEAL(cpu) : xstrdup("UNKNOWN_HW");
}

/* Letters and digits of any script: beyond ASCII everything but spaces, punctuation and symbols of
 * the Latin-1, general punctuation and CJK punctuation blocks counts as a letter. */
static bool is_name_char(uint32_t code)
{
    if (code < 0x80)
        return isalnum((int)code);
    if (code < 0xC0)
        return code == 0xAA || code == 0xB2 || code == 0xB3 || code == 0xB5 || code == 0xB9 ||
               code == 0xBA || (code >= 0xBC && code <= 0xBE);
    return code != 0xD7 && code != 0xF7 && !(code >= 0x2000 && code <= 0x2BFF) &&
           !(code >= 0x3000 && code <= 0x3004) && !(code >= 0x3007 && code <= 0x3020) &&
           !(code >= 0xE000 && code <= 0xF8FF) && !(code >= 0x1F000 && code <= 0x1FAFF);
}

static char *strip_underscores(struct buf *b)
{
    size_t start = 0;

    while (b->len > 0 && b->data[b->len - 1] == '_')
        b->data[--b->len] = '\0';
    while (start < b->len && b->data[start] == '_')
        start++;
    buf_consume(b, start);
    return buf_take(b);
}

char *model_slug(const char *model)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    AUTO_FREE char *slug = NULL;
    size_t n = strlen(model);

    for (size_t i = 0; i < n;) {
        uint32_t code = 0;
        size_t len = utf8_char(model + i, n - i, &code);

        if (len && is_name_char(code))
            buf_add(&out, model + i, len);
        else
            buf_addc(&out, '_');
        i += len ? len : 1;
    }
    slug = strip_underscores(&out);
    return *slug ? STEAL(slug) : xstrdup("model");
}

char *run_name(const char *hardware, const char *model, const char *dataset)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    AUTO_FREE char *slug = model_slug(model);
    size_t start = 0, end = strlen(dataset);

    while (start < end && isspace((unsigned char)dataset[start]))
        start++;
    while (end > start && isspace((unsigned char)dataset[end - 1]))
        end--;
    if (start == end) {
        dataset = "dataset";
        start = 0;
        end = strlen(dataset);
    }
    buf_addf(&out, "profile_%s_%s_%.*s", hardware, slug, (int)(end - start), dataset + start);
    for (size_t i = 0; i < out.len; i++)
        if (out.data[i] == '/' || out.data[i] == '\\' || (unsigned char)out.data[i] < 0x20 ||
            out.data[i] == 0x7F)
            out.data[i] = '_';
    return strip_underscores(&out);
}
