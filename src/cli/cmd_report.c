/*
 * ipw report: one self-contained HTML page about one or several runs.
 */
#include "analysis/run.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/commands.h"
#include "report/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* More columns than this nobody reads side by side. */
#define RUNS_MAX 64

struct report_args {
    const char *output;
};

static const struct option options[] = {
    {"output", OPT_TEXT, offsetof(struct report_args, output),
     "write here; - is stdout (default: DIR/report.html; of several runs ./report.html)", "FILE",
     .letter = 'o'},
    {0},
};

struct opened {
    struct run *runs[RUNS_MAX];
    size_t n;
};

static void opened_release(struct opened *o)
{
    for (size_t i = 0; i < o->n; i++)
        run_close(o->runs[i]);
}

static int make_page(const struct operands *operands, struct buf *page, struct err *err)
{
    AUTO(opened) struct opened o = {0};

    for (; o.n < operands->n; o.n++) {
        int r = run_open(operands->items[o.n], &o.runs[o.n], err);

        if (r < 0)
            return r;
    }
    return report_make(o.runs, o.n, NULL, page, err);
}

static int write_page(const char *path, const struct buf *page, struct err *err)
{
    if (strcmp(path, "-") != 0)
        return fs_replace(AT_FDCWD, path, page->data, page->len, err);
    fwrite(page->data, 1, page->len, stdout); /* its failure is found when stdout is flushed */
    return 0;
}

static int report_run(const void *args, const struct operands *operands)
{
    const struct report_args *a = args;
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO_FREE char *path = a->output         ? xstrdup(a->output)
                           : operands->n > 1 ? xstrdup("report.html")
                                             : xasprintf("%s/report.html", operands->items[0]);
    struct err err = {0};

    if (make_page(operands, &page, &err) < 0 || write_page(path, &page, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    if (strcmp(path, "-") != 0)
        log_info("%s written (%.1f MB)", path, (double)page.len / 1e6);
    return EXIT_DONE;
}

const struct command cmd_report = {
    .name = "report",
    .help = "one self-contained HTML page about one or several runs",
    .operands = "DIR...",
    .operands_min = 1,
    .operands_max = RUNS_MAX,
    .options = options,
    .args_size = sizeof(struct report_args),
    .details = "The page loads nothing from the network: it can be mailed, archived and opened\n"
               "from a disk. Several runs become columns side by side.\n"
               "  ipw report runs/profile_A\n"
               "  ipw report runs/profile_A runs/profile_B -o both.html",
    .run = report_run,
};
