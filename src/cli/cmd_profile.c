/*
 * ipw profile: ask, measure, record.
 */
#include "analysis/refresh.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/closing.h"
#include "cli/commands.h"
#include "cli/judge_options.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "run/config.h"
#include "run/profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct profile_args {
    struct profile_options run;
    struct judge_args judge;
    int64_t repeat;
    int64_t cooldown_ns;
    bool json;
};

static const struct option options[] = {
    PROFILE_OPTIONS(struct profile_args, run),
    JUDGE_OPTIONS(struct profile_args, judge),
    {"repeat", OPT_INT, offsetof(struct profile_args, repeat),
     "run the whole protocol N times, each in a directory of its own and in another order", "N",
     "1", .min = 1, .max = 1000},
    {"cooldown", OPT_DURATION, offsetof(struct profile_args, cooldown_ns),
     "pause between repetitions", "T", "10s"},
    {"json", OPT_FLAG, offsetof(struct profile_args, json), "summary.json on stdout"},
    {0},
};

static int status_of(const struct profile_outcome *o)
{
    if (o->interrupted)
        return EXIT_INTERRUPTED;
    if (o->gave_up)
        return EXIT_ERROR;
    return o->tally.failed > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
}

static bool ask_overwrite(void *arg, const char *path)
{
    char line[16] = "";

    progress_end(arg);
    fprintf(stderr, "%s exists. Overwrite? [y/N] ", path);
    fflush(stderr);
    return fgets(line, sizeof(line), stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static void show_status(void *arg, const char *words)
{
    progress_status(arg, words);
}

static void show_progress(void *arg, const struct profile_progress *p)
{
    progress_show(arg, p);
}

int profile_once(const struct profile_options *o, struct interrupt *interrupt,
                 struct profile_outcome *ret)
{
    struct progress progress;
    struct profile_hooks hooks = {
        .status = show_status, .progress = show_progress, .arg = &progress};
    struct err err = {0};
    int r;

    if (isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
        hooks.may_overwrite = ask_overwrite;
    progress_begin(&progress, log_level() < LOG_LEVEL_INFO);
    r = profile_run(o, &hooks, interrupt, ret, &err);
    progress_end(&progress);
    if (r < 0)
        log_error("%s", err.text);
    if (r < 0 && ret->path)
        log_info("what was recorded before is in %s", ret->path);
    if (ret->gave_up)
        log_error("stopped after %lld failures in a row (--stop-after); --resume goes on",
                  (long long)o->failures_max);
    if (r < 0)
        return ret->interrupted ? EXIT_INTERRUPTED : EXIT_ERROR;
    return status_of(ret);
}

static void print_outcome(struct profile_outcome *o, bool json)
{
    if (json && o->summary)
        fputs(o->summary, stdout);
    else if (!json && o->path && o->tally.records > 0)
        closing_print(stdout, o);
}

void profile_cool_down(int64_t ns, struct interrupt *i)
{
    mono_ns until = mono_now() + ns;

    log_info("cooling down");
    while (mono_now() < until && !interrupt_seen(i))
        mono_sleep_until(mono_now() + 100 * NS_PER_MS < until ? mono_now() + 100 * NS_PER_MS
                                                              : until);
}

/* What no rule can score is asked of the judge, after the run: it costs the run nothing. Without a
 * verdict an answer stays unscored, and `ipw analyze` can ask again. */
static void judge_outcome(const struct judge_config *judge, struct profile_outcome *o,
                          struct interrupt *interrupt)
{
    AUTO(analysis_result) struct analysis_result result = {0};
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO_FREE char *path = NULL;
    struct analysis_options how = {0};
    struct kv_list none = {0};
    struct tally tally;
    struct err err = {0};

    how.params = &none;
    if (judge_accuracy(judge, o->path, &how, interrupt->fd, &result, &err) < 0 ||
        run_refresh(o->path, &tally, &err) < 0) {
        log_warning("the answers were not judged: %s", err.text);
        return;
    }
    tally_release(&o->tally);
    o->tally = tally;
    path = xasprintf("%s/summary.json", o->path);
    if (fs_read_all(AT_FDCWD, path, &text, NULL) == 0) {
        free(o->summary);
        o->summary = buf_take(&text);
    }
}

static int profile_all(const struct profile_args *a, const struct judge_config *judge,
                       struct profile_options *o)
{
    struct interrupt interrupt;
    int status = EXIT_DONE;

    interrupt_begin(&interrupt);
    for (int64_t k = 1; k <= a->repeat && status != EXIT_INTERRUPTED; k++) {
        struct profile_outcome outcome;
        int once;

        if (k > 1)
            profile_cool_down(a->cooldown_ns, &interrupt);
        o->repetition = k;
        once = profile_once(o, &interrupt, &outcome);
        status = once == EXIT_INTERRUPTED || status == EXIT_DONE ? once : status;
        if (judge && outcome.path && !outcome.interrupted)
            judge_outcome(judge, &outcome, &interrupt);
        print_outcome(&outcome, a->json);
        profile_outcome_release(&outcome);
        if (once == EXIT_ERROR)
            break;
    }
    interrupt_end(&interrupt);
    return status;
}

static int profile_command(const void *args, const struct operands *operands)
{
    const struct profile_args *a = args;
    struct profile_options o = a->run;
    struct judge_config judge;
    struct err err = {0};
    int has_judge;
    AUTO_FREE char *line = config_command_line("profile", operands->argc, operands->argv);

    if (profile_options_check(&o) < 0)
        return EXIT_USAGE;
    if (a->json && a->repeat > 1) {
        log_error("--json prints one document: not with --repeat");
        return EXIT_USAGE;
    }
    has_judge = judge_args_config(&a->judge, &judge, &err);
    if (has_judge < 0) {
        log_error("%s", err.text);
        return EXIT_USAGE;
    }
    o.command_line = line;
    return profile_all(a, has_judge ? &judge : NULL, &o);
}

const struct command cmd_profile = {
    .name = "profile",
    .help = "ask, measure, record: answers, latency and joules of every query",
    .options = options,
    .args_size = sizeof(struct profile_args),
    .details =
        "Examples:\n"
        "  ipw profile --client ollama --model llama3.2:1b\n"
        "  ipw profile --client openai --client-base-url http://127.0.0.1:8000/v1 --concurrency 8\n"
        "  ipw profile --client llamacpp --client-base-url http://127.0.0.1:8080 --dataset "
        "q.jsonl\n"
        "\n"
        "Exit status: 0 done, 1 error, 3 done but some queries failed, 130 interrupted with\n"
        "everything saved (--resume goes on).",
    .run = profile_command,
};
