/*
 * ipw analyze: what the records of a run mean.
 */
#include "analysis/analysis.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands.h"
#include "cli/judge_options.h"
#include "run/interrupt.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct analyze_args {
    const char *analysis;
    struct kv_list params;
    const char *scorer;
    bool rescore, json, verbose;
    struct judge_args judge;
};

static const struct option options[] = {
    {"analysis", OPT_TEXT, offsetof(struct analyze_args, analysis), "which one (ipw list analyses)",
     "ID", "accuracy"},
    {"option", OPT_KV, offsetof(struct analyze_args, params),
     "an option of the analysis: model=NAME, skip_zeroes=true; repeatable", "k=v"},
    {"scorer", OPT_TEXT, offsetof(struct analyze_args, scorer),
     "score by this (ipw list scorers) instead of what the records say", "SPEC"},
    {"rescore", OPT_FLAG, offsetof(struct analyze_args, rescore), "score also what has a score"},
    {"json", OPT_FLAG, offsetof(struct analyze_args, json), "one JSON document on stdout"},
    {"verbose", OPT_FLAG, offsetof(struct analyze_args, verbose), "print the data too",
     .letter = 'v'},
    JUDGE_OPTIONS(struct analyze_args, judge),
    {0},
};

static void print_value(const struct json *v)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_SPACED);

    if (v->type == JSON_NULL)
        printf("n/a\n");
    else if (v->type == JSON_STRING)
        printf("%s\n", v->text);
    else if (v->type == JSON_REAL)
        printf("%.6g\n", v->real);
    else if (v->type == JSON_ARRAY && v->len == 2 && json_is(v->child, JSON_NULL))
        printf("n/a\n");
    else if (v->type == JSON_ARRAY && v->len == 2 && json_is(v->child->next, JSON_NULL))
        printf("%.6g or more\n", json_real(v->child, NAN));
    else if (v->type == JSON_ARRAY && v->len == 2)
        printf("%.6g to %.6g\n", json_real(v->child, NAN), json_real(v->child->next, NAN));
    else {
        jw_value(&w, NULL, v);
        printf("%s\n", buf_str(&text));
    }
}

static void print_members(const char *title, const struct json *object)
{
    if (object)
        printf("\n%s:\n", title);
    JSON_FOREACH (member, object) {
        printf("  %s: ", member->key);
        print_value(member);
    }
}

static void print_text(const struct json *doc, const struct analysis_result *result, bool verbose)
{
    const struct json *warnings = json_get(doc, "warnings");
    const char *id = json_text(json_get(doc, "analysis"), "");

    printf("Analysis: %s\n", id);
    print_members("Summary", json_get(doc, "summary"));
    print_members("Judge", json_get(doc, "judge"));
    if (json_first(warnings))
        printf("\nWarnings:\n");
    JSON_FOREACH (item, warnings)
        printf("  %s\n", json_text(item, ""));
    printf("\nArtifacts:\n  %s: %s\n", id, result->artifact);
    if (verbose) {
        AUTO(buf) struct buf data = BUF_INIT(BUF_MAX_OWN);
        struct json_writer w = json_writer(&data, JSON_PRETTY);

        jw_value(&w, NULL, json_get(doc, "data"));
        printf("\nData:\n%s\n", buf_str(&data));
    }
}

static void print_json(const struct json *doc, const struct analysis_result *result)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&out, JSON_PRETTY);

    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, doc) {
        if (strcmp(member->key, "data") == 0) {
            jw_begin_object(&w, "artifacts");
            jw_text(&w, json_text(json_get(doc, "analysis"), ""), result->artifact);
            jw_end_object(&w);
        }
        jw_value(&w, member->key, member);
    }
    jw_end_object(&w);
    puts(buf_str(&out));
}

/* With a judge the first Ctrl-C ends the judging; what was judged is saved. */
static int analyze_judged(const struct judge_config *judge, const char *dir,
                          struct analysis_options *o, struct analysis_result *ret,
                          bool *ret_interrupted, struct err *err)
{
    struct interrupt interrupt;
    int r;

    interrupt_begin(&interrupt);
    r = judge_accuracy(judge, dir, o, interrupt.fd, ret, err);
    *ret_interrupted = interrupt_seen(&interrupt);
    interrupt_end(&interrupt);
    return r;
}

static int analyze_run(const void *args, const struct operands *operands)
{
    const struct analyze_args *a = args;
    const char *dir = operands->items[0];
    struct analysis_options o = {.params = &a->params, .scorer = a->scorer, .rescore = a->rescore};
    AUTO(analysis_result) struct analysis_result result = {0};
    AUTO(json_doc) struct json_doc doc = {0};
    struct judge_config judge;
    struct err err = {0};
    bool interrupted = false;
    int r = judge_args_config(&a->judge, &judge, &err);

    if (r < 0 || analysis_check(a->analysis, &o, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_USAGE;
    }
    if (r > 0 && strcmp(a->analysis, "accuracy") == 0)
        r = analyze_judged(&judge, dir, &o, &result, &interrupted, &err);
    else
        r = analysis_run(a->analysis, dir, &o, &result, &err);
    if (r == 0)
        r = json_doc_parse(&doc, result.document.data, result.document.len, &err);
    if (r < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    if (a->json)
        print_json(doc.root, &result);
    else
        print_text(doc.root, &result, a->verbose);
    return interrupted ? EXIT_INTERRUPTED : EXIT_DONE;
}

const struct command cmd_analyze = {
    .name = "analyze",
    .help = "accuracy, IPJ and IPW of a run; how energy and time grow with tokens",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .args_size = sizeof(struct analyze_args),
    .details =
        "accuracy    scores what has no score and writes it back, then accuracy, intelligence\n"
        "            per joule and per watt, joules per correct answer, by subject and\n"
        "            difficulty, with 95 % intervals\n"
        "regression  time to first token, energy, latency and power against tokens\n"
        "phases      joules of a prompt token, of an output token, and watts beside them\n\n"
        "The result is kept in DIR/analysis/<id>.json.",
    .run = analyze_run,
};
