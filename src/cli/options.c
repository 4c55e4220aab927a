#include "cli/options.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/num.h"
#include "base/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct option options_common[] = {
    {"quiet", OPT_FLAG, 0, "only warnings and errors on stderr", .letter = 'q'},
    {"help", OPT_FLAG, 0, "this text", .letter = 'h'},
    {0},
};

static void *member(void *args, const struct option *o)
{
    return (char *)args + o->offset;
}

static bool takes_value(const struct option *o)
{
    return o->type != OPT_FLAG;
}

static int bad_value(const struct option *o, struct err *err)
{
    return err_prefix(err, "--%s", o->name);
}

static int check_range(const struct option *o, double value, const char *text, struct err *err)
{
    if ((o->min == 0 && o->max == 0) || (value >= o->min && value <= o->max))
        return 0;
    if (o->max == INFINITY)
        return err_set(err, EINVAL, "'%.80s' is too small (at least %g)", text, o->min);
    return err_set(err, EINVAL, "'%.80s' is not between %g and %g", text, o->min, o->max);
}

static int set_number(const struct option *o, void *target, const char *text, struct err *err)
{
    int64_t integer = 0;
    double real = 0;
    int r;

    if (o->type == OPT_REAL)
        r = parse_f64(text, &real, err);
    else
        r = parse_i64(text, &integer, err);
    if (r == 0)
        r = check_range(o, o->type == OPT_REAL ? real : (double)integer, text, err);
    if (r < 0)
        return bad_value(o, err);
    if (o->type == OPT_REAL)
        *(double *)target = real;
    else
        *(int64_t *)target = integer;
    return 0;
}

static int set_choice(const char *const *choices, const char *text, const char **ret,
                      struct err *err)
{
    char all[160] = "";
    struct suggest s = suggest_for(text);
    size_t used = 0;

    for (const char *const *c = choices; *c; c++) {
        if (strcmp(*c, text) == 0) {
            *ret = text;
            return 0;
        }
        suggest_offer(&s, *c);
        if (used < sizeof(all))
            used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", used ? ", " : "", *c);
    }
    if (s.best)
        return err_set(err, EINVAL, "unknown '%.60s': did you mean '%s'?", text, s.best);
    return err_set(err, EINVAL, "unknown '%.60s' (one of: %s)", text, all);
}

static int set_kv(const struct option *o, struct kv_list *list, const char *text, struct err *err)
{
    const char *equals = strchr(text, '=');
    char *key;

    if (!equals || equals == text) {
        err_set(err, EINVAL, "'%.80s' is not of the form key=value", text);
        return bad_value(o, err);
    }
    key = xstrndup(text, (size_t)(equals - text));
    kv_add(list, key, equals + 1);
    free(key);
    return 0;
}

static int set_option(const struct option *o, void *args, const char *text, struct err *err)
{
    void *target = member(args, o);
    int r = 0;

    switch (o->type) {
    case OPT_FLAG:
        *(bool *)target = true;
        return 0;
    case OPT_TEXT:
        *(const char **)target = text;
        return 0;
    case OPT_INT:
    case OPT_REAL:
        return set_number(o, target, text, err);
    case OPT_DURATION:
        r = parse_duration(text, target, err);
        break;
    case OPT_SIZE:
        r = parse_size(text, target, err);
        break;
    case OPT_CHOICE:
        r = set_choice(o->choices, text, target, err);
        break;
    case OPT_KV:
        return set_kv(o, target, text, err);
    }
    return r < 0 ? bad_value(o, err) : 0;
}

/* "Not given", or the default of the table: a default that does not parse is our bug. */
static void set_initial(const struct option *o, void *args)
{
    struct err err = {0};

    if (o->type == OPT_REAL)
        *(double *)member(args, o) = NAN;
    else if (o->type == OPT_INT || o->type == OPT_DURATION || o->type == OPT_SIZE)
        *(int64_t *)member(args, o) = -1;
    if (o->initial && set_option(o, args, o->initial, &err) < 0) {
        log_error("default of %s", err.text);
        abort();
    }
}

static const struct option *find_in(const struct option *o, const char *name, size_t len)
{
    for (; o && o->name; o++) {
        if (strlen(o->name) == len && strncmp(o->name, name, len) == 0)
            return o;
        if (o->alias && strlen(o->alias) == len && strncmp(o->alias, name, len) == 0)
            return o;
    }
    return NULL;
}

static const struct option *find_letter(const struct option *o, char letter)
{
    for (; o && o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static int unknown_option(const struct command *c, const char *word, size_t len, struct err *err)
{
    char typed[80];
    struct suggest s;

    snprintf(typed, sizeof(typed), "%.*s", (int)len, word);
    s = suggest_for(typed);
    for (const struct option *o = c->options; o && o->name; o++)
        suggest_offer(&s, o->name);
    for (const struct option *o = options_common; o->name; o++)
        suggest_offer(&s, o->name);
    if (s.best)
        return err_set(err, EINVAL, "unknown option --%s: did you mean --%s?", typed, s.best);
    return err_set(err, EINVAL, "unknown option --%s (see ipw %s --help)", typed, c->name);
}

static int takes_none(const struct option *o, struct err *err)
{
    return err_set(err, EINVAL, "--%s takes no value", o->name);
}

/* --help and --quiet: flags both. */
static int set_common(const struct option *o, const char *value, struct err *err)
{
    if (value)
        return takes_none(o, err);
    if (o->letter == 'h')
        return -ECANCELED;
    log_set_level(LOG_LEVEL_WARNING);
    return 0;
}

struct words {
    int argc;
    char **argv;
    int next;
};

/* One option at words->argv[next - 1]; takes its value along. */
static int parse_one(const struct command *c, struct words *w, void *args, struct err *err)
{
    const char *word = w->argv[w->next - 1];
    bool is_long = word[1] == '-';
    const char *name = word + (is_long ? 2 : 1);
    const char *value = is_long ? strchr(name, '=') : name[1] ? name + 1 : NULL;
    size_t len = is_long && value ? (size_t)(value - name) : is_long ? strlen(name) : 1;
    const struct option *o, *common;

    o = is_long ? find_in(c->options, name, len) : find_letter(c->options, *name);
    common = is_long ? find_in(options_common, name, len) : find_letter(options_common, *name);
    if (!o && !common)
        return is_long
                   ? unknown_option(c, name, len, err)
                   : err_set(err, EINVAL, "unknown option %s (see ipw %s --help)", word, c->name);
    if (is_long && value)
        value++;
    if (!o)
        return set_common(common, value, err);
    if (!takes_value(o))
        return value ? takes_none(o, err) : set_option(o, args, NULL, err);
    if (!value && w->next < w->argc)
        value = w->argv[w->next++];
    if (!value)
        return err_set(err, EINVAL, "--%s needs a value (%s)", o->name, o->value);
    return set_option(o, args, value, err);
}

static int check_operands(const struct command *c, const struct operands *ops, struct err *err)
{
    const char *ignored;

    if (ops->n < c->operands_min)
        return err_set(err, EINVAL, "ipw %s needs %s (see ipw %s --help)", c->name, c->operands,
                       c->name);
    if (ops->n > c->operands_max)
        return err_set(err, EINVAL, "unexpected '%.80s' (see ipw %s --help)",
                       ops->items[c->operands_max], c->name);
    for (size_t i = 0; c->operand_choices && i < ops->n; i++)
        if (set_choice(c->operand_choices, ops->items[i], &ignored, err) < 0)
            return err_prefix(err, "ipw %s", c->name);
    return 0;
}

int options_parse(const struct command *c, int argc, char **argv, void *args,
                  struct operands *ret_operands, struct err *err)
{
    struct words w = {.argc = argc, .argv = argv};
    int r = 0;

    ret_operands->items = xcalloc((size_t)argc + 1, sizeof(*ret_operands->items));
    ret_operands->n = 0;
    ret_operands->argc = argc;
    ret_operands->argv = (const char *const *)argv;
    for (const struct option *o = c->options; o && o->name; o++)
        set_initial(o, args);
    while (r == 0 && w.next < argc) {
        const char *word = argv[w.next++];

        if (strcmp(word, "--") == 0)
            break;
        if (word[0] == '-' && word[1])
            r = parse_one(c, &w, args, err);
        else
            ret_operands->items[ret_operands->n++] = word;
    }
    while (r == 0 && w.next < argc)
        ret_operands->items[ret_operands->n++] = argv[w.next++];
    return r < 0 ? r : check_operands(c, ret_operands, err);
}

void options_release(const struct command *c, void *args, struct operands *operands)
{
    for (const struct option *o = c->options; o && o->name; o++)
        if (o->type == OPT_KV)
            kv_list_release(member(args, o));
    free(operands->items);
}

static void print_option(const struct option *o)
{
    char left[64];
    int n = 0;

    if (o->letter)
        n = snprintf(left, sizeof(left), "-%c, ", o->letter);
    snprintf(left + n, sizeof(left) - (size_t)n, "--%s%s%s", o->name, o->value ? " " : "",
             o->value ? o->value : "");
    printf("  %-30s %s", left, o->help);
    if (o->choices) {
        printf(": ");
        for (const char *const *c = o->choices; *c; c++)
            printf("%s%s", c == o->choices ? "" : "|", *c);
    }
    if (o->initial)
        printf(" [%s]", o->initial);
    putchar('\n');
}

void options_help(const struct command *c)
{
    printf("Usage: ipw %s [options]%s%s\n\n%s\n\n", c->name, c->operands ? " " : "",
           c->operands ? c->operands : "", c->help);
    if (c->operand_choices) {
        printf("%s is one of:", c->operands);
        for (const char *const *p = c->operand_choices; *p; p++)
            printf(" %s", *p);
        printf("\n\n");
    }
    printf("Options:\n");
    for (const struct option *o = c->options; o && o->name; o++)
        print_option(o);
    for (const struct option *o = options_common; o->name; o++)
        print_option(o);
    if (c->details)
        printf("\n%s\n", c->details);
}
