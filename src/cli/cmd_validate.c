/*
 * ipw validate: is this run sound?
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/commands.h"
#include "store/validate.h"

#include <inttypes.h>
#include <stdio.h>

struct validate_args {
    bool json;
};

static const struct option options[] = {
    {"json", OPT_FLAG, offsetof(struct validate_args, json), "one JSON document on stdout"},
    {0},
};

static void print_text(const char *dir, const struct validation *v)
{
    printf("%s: %s\n", dir, v->sound ? "sound" : "NOT SOUND");
    printf("  records    %" PRId64 " (%" PRId64 " failed)\n", v->rows, v->failed);
    if (v->valid + v->degraded + v->invalid > 0)
        printf("  verdicts   %" PRId64 " valid, %" PRId64 " degraded, %" PRId64 " invalid\n",
               v->valid, v->degraded, v->invalid);
    if (v->telemetry_rows >= 0)
        printf("  telemetry  %" PRId64 " samples\n", v->telemetry_rows);
    if (v->verdict[0])
        printf("  run        %s\n", v->verdict);
    for (size_t i = 0; i < v->n; i++)
        printf("  %-9s  %s\n", v->findings[i].fatal ? "problem" : "note", v->findings[i].text);
}

static void print_json(const char *dir, const struct validation *v)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&out, JSON_PRETTY);

    jw_begin_object(&w, NULL);
    jw_text(&w, "directory", dir);
    jw_bool(&w, "sound", v->sound);
    jw_int(&w, "records", v->rows);
    jw_int(&w, "failed", v->failed);
    jw_int(&w, "valid", v->valid);
    jw_int(&w, "degraded", v->degraded);
    jw_int(&w, "invalid", v->invalid);
    if (v->telemetry_rows >= 0)
        jw_int(&w, "telemetry_samples", v->telemetry_rows);
    else
        jw_null(&w, "telemetry_samples");
    jw_text(&w, "verdict", v->verdict[0] ? v->verdict : NULL);
    jw_begin_array(&w, "findings");
    for (size_t i = 0; i < v->n; i++) {
        jw_begin_object(&w, NULL);
        jw_text(&w, "kind", v->findings[i].fatal ? "problem" : "note");
        jw_text(&w, "text", v->findings[i].text);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    puts(out.data);
}

static int validate_command(const void *args, const struct operands *operands)
{
    const struct validate_args *a = args;
    struct validation v;
    bool sound;

    validate_run(operands->items[0], &v);
    if (a->json)
        print_json(operands->items[0], &v);
    else
        print_text(operands->items[0], &v);
    sound = v.sound;
    validation_release(&v);
    return sound ? EXIT_DONE : EXIT_ERROR;
}

const struct command cmd_validate = {
    .name = "validate",
    .help = "is this run sound? structure, row counts, verdict; exit 1 when not",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .args_size = sizeof(struct validate_args),
    .run = validate_command,
};
