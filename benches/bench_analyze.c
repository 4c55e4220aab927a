/*
 * Analysing a run: memory must not grow with it. All answers are scored and the scores are written
 * back, which is the most that an analysis does.
 *
 * Making and analysing a run are children of their own, so that peak memory is the analysis' alone.
 */
#include "bench_row.h"

#include "analysis/analysis.h"
#include "base/clock.h"
#include "base/fs.h"
#include "makerun.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/ipw-bench-XXXXXX";
static char path[64];

struct figures {
    double peak_mib;
    double seconds;
};

static int make_run(int64_t records)
{
    struct makerun m = makerun_default();
    struct err err = {0};

    m.records = records;
    m.accuracy = NAN;
    m.telemetry_s = 0;
    if (makerun(&m, path, NULL, &err) == 0)
        return 0;
    fprintf(stderr, "bench_analyze: %s\n", err.text);
    return 1;
}

static int analyze(int64_t records, struct figures *ret)
{
    const struct analysis_options o = {.scorer = "numeric"};
    AUTO(analysis_result) struct analysis_result result = {0};
    AUTO(json_doc) struct json_doc doc = {0};
    mono_ns start = mono_now();
    struct err err = {0};
    struct rusage u;

    if (analysis_run("accuracy", path, &o, &result, &err) < 0 ||
        json_doc_parse(&doc, result.document.data, result.document.len, &err) < 0) {
        fprintf(stderr, "bench_analyze: %s\n", err.text);
        return 1;
    }
    getrusage(RUSAGE_SELF, &u);
    *ret = (struct figures){(double)u.ru_maxrss / 1024, ns_to_s(mono_now() - start)};
    return json_int(json_path(doc.root, "summary", "newly_scored"), 0) != records;
}

/* What a child comes to; its figures when it has some. */
static void in_child(bool analysis, int64_t records, struct figures *ret)
{
    int fds[2], status = 1;
    pid_t pid;

    if (pipe(fds) < 0)
        exit(1);
    pid = fork();
    if (pid == 0) {
        struct figures f = {0};
        int bad = analysis ? analyze(records, &f) : make_run(records);

        _exit(bad || write(fds[1], &f, sizeof(f)) != sizeof(f));
    }
    if (waitpid(pid, &status, 0) < 0 || status || read(fds[0], ret, sizeof(*ret)) != sizeof(*ret))
        exit(1);
    close(fds[0]);
    close(fds[1]);
}

static struct figures measure(int64_t records)
{
    struct figures f;

    in_child(false, records, &f);
    in_child(true, records, &f);
    fs_remove_tree(AT_FDCWD, path, NULL);
    return f;
}

int main(void)
{
    struct figures few, many;
    double ratio;

    if (!mkdtemp(dir))
        return 1;
    snprintf(path, sizeof(path), "%s/run", dir);
    few = measure(10000);
    many = measure(1000000);
    ratio = many.peak_mib / few.peak_mib;
    bench_print(&(struct bench_row){"peak memory of analysing 1 000 000 records",
                                    "that of 10 000 records", few.peak_mib, many.peak_mib, "MiB",
                                    ratio, "x", "<= 1.5x", ratio <= 1.5});
    fprintf(stderr, "bench_analyze: scoring and writing back took %.1f s\n", many.seconds);
    fs_remove_tree(AT_FDCWD, dir, NULL);
    return 0;
}
