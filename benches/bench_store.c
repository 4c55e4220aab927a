/*
 * The store: CPU time of writing records against write(2) of the same bytes, memory, and reading a
 * text column against reading the file.
 *
 * Each part runs in a child of its own, so that peak memory is its own; writing and the bare write
 * take turns, and the best of several rounds counts on both sides.
 */
#include "bench_row.h"

#include "arrow/builder.h"
#include "arrow/reader.h"
#include "arrow/writer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "store/hfwriter.h"
#include "store/schema.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define RECORDS 100000
#define ROUNDS  5

static char dir[] = "/tmp/ipw-bench-XXXXXX";
static struct err err;

static void must(int r)
{
    if (r < 0) {
        fprintf(stderr, "bench_store: %s\n", err.text);
        exit(1);
    }
}

static double cpu_s(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

/* Making the record is not part of writing it: only what changes is set for each. */
static void fill(struct record *r, const char *text)
{
    static const struct device gpu = {.name = "NVIDIA H100", .vendor = "NVIDIA", .type = "GPU"};
    static const struct system_info sys = {.os_name = "Linux", .cpu_brand = "CPU", .cpu_count = 2};

    record_init(r);
    r->problem = text;
    r->answer = "42";
    r->subject = "arithmetic";
    r->response = text + 500;
    r->latency.total_s = 1.5;
    r->gpu_w = r->cpu_w = (struct stat4){1, 2, 3, 4};
    r->tokens.input = r->tokens.output = 100;
    r->gpu = &gpu;
    r->system = &sys;
    r->request.status = "ok";
}

struct figures {
    double cpu_s;
    double bytes;
    double peak_mib;
};

static struct figures write_records(int64_t n)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, dir, &err);
    struct hfwriter *w = NULL;
    struct figures f = {0};
    struct rusage u;
    struct stat st;
    struct record r;
    char text[900];
    double start = cpu_s();

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    record_schema("llama3.2:1b", NULL, &schema);
    must(hfwriter_create(fd, &schema, &w, &err));
    fill(&r, text);
    for (int64_t i = 0; i < n; i++) {
        r.request.index = i;
        r.energy.gpu_j = (double)i;
        must(hfwriter_append(w, record_put, &r, mono_now(), &err));
    }
    must(hfwriter_finish(w, &err));
    hfwriter_free(w);
    f.cpu_s = cpu_s() - start;
    getrusage(RUSAGE_SELF, &u);
    f.peak_mib = (double)u.ru_maxrss / 1024;
    for (int shard = 0;; shard++) {
        char name[64];
        bool found = false;

        for (int shards = 1; shards < 20 && !found; shards++) {
            snprintf(name, sizeof(name), "data-%05d-of-%05d.arrow", shard, shards);
            found = fstatat(fd, name, &st, 0) == 0;
        }
        if (!found)
            break;
        f.bytes += (double)st.st_size;
    }
    return f;
}

/* write(2) of as many bytes, in pieces of a batch's size, from memory that is there. */
static struct figures write_bare(double bytes)
{
    size_t piece = (size_t)(bytes / (RECORDS / HFWRITER_BATCH_ROWS));
    AUTO_FREE char *data = xmalloc(piece);
    AUTO_FREE char *path = xasprintf("%s/bare", dir);
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    double start;

    memset(data, 'x', piece);
    start = cpu_s();
    for (int i = 0; i < RECORDS / HFWRITER_BATCH_ROWS; i++)
        must(fs_write_full(fd, data, piece, &err));
    return (struct figures){.cpu_s = cpu_s() - start, .bytes = bytes};
}

/* Runs one part in a child and takes its figures. */
static struct figures in_child(struct figures (*part)(double), double argument)
{
    struct figures f = {0};
    int fds[2], status = 1;
    pid_t pid;

    if (pipe(fds) < 0)
        exit(1);
    pid = fork();
    if (pid == 0) {
        f = part(argument);
        _exit(write(fds[1], &f, sizeof(f)) != sizeof(f));
    }
    if (read(fds[0], &f, sizeof(f)) != sizeof(f) || waitpid(pid, &status, 0) < 0 || status)
        exit(1);
    close(fds[0]);
    close(fds[1]);
    return f;
}

static struct figures records_part(double n)
{
    return write_records((int64_t)n);
}

static void clear_dir(void)
{
    fs_remove_tree(AT_FDCWD, dir, NULL);
    must(fs_mkdirs(dir, &err));
}

static void bench_writing(void)
{
    struct figures best = {.cpu_s = INFINITY}, bare = {.cpu_s = INFINITY}, small, large;
    double ratio;

    for (int round = 0; round < ROUNDS; round++) {
        struct figures f = in_child(records_part, RECORDS), b;

        b = in_child(write_bare, f.bytes);
        best = f.cpu_s < best.cpu_s ? f : best;
        bare = b.cpu_s < bare.cpu_s ? b : bare;
        clear_dir();
    }
    ratio = best.cpu_s / bare.cpu_s;
    bench_print(&(struct bench_row){"CPU time to write a record (100 000 of 2 kB)",
                                    "write(2) of the same bytes", bare.cpu_s / RECORDS * 1e6,
                                    best.cpu_s / RECORDS * 1e6, "us", ratio, "x", "<= 4x",
                                    ratio <= 4});
    small = in_child(records_part, 1000);
    clear_dir();
    bench_print(&(struct bench_row){"peak memory, 100 000 records", "64 MiB", 64, best.peak_mib,
                                    "MiB", best.peak_mib, " MiB", "< 64 MiB", best.peak_mib < 64});
    large = in_child(records_part, 1000000);
    clear_dir();
    ratio = large.peak_mib / small.peak_mib;
    bench_print(&(struct bench_row){"peak memory, 1 000 000 records", "that of 1 000 records",
                                    small.peak_mib, large.peak_mib, "MiB", ratio, "x", "<= 1.5x",
                                    ratio <= 1.5});
}

#define READ_ROWS 1000000

static void make_text_file(const char *path)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    struct arrow_sink sink = arrow_sink_fd(fd);
    char text[201];

    memset(text, 'q', sizeof(text));
    arrow_schema_init(&schema);
    arrow_field_add(&schema.root, "text", ARROW_UTF8);
    must(arrow_builder_new(&schema, &b, &err));
    must(arrow_write_schema(&sink, &schema, &err));
    for (int i = 1; i <= READ_ROWS; i++) {
        arrow_put_text(arrow_builder_column(b, 0), text, 50 + (size_t)i % 150);
        must(arrow_builder_end_row(b, &err));
        if (i % HFWRITER_BATCH_ROWS == 0) {
            must(arrow_write_batch(&sink, b, &err));
            arrow_builder_clear(b);
        }
    }
    must(arrow_write_end(&sink, &err));
}

static double read_values(const char *path)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    const struct arrow_array *batch;
    mono_ns start = mono_now();
    size_t total = 0, rows = 0;

    must(arrow_reader_open(AT_FDCWD, path, &r, &err));
    while (arrow_reader_next(r, &batch, &err) > 0) {
        const struct arrow_array *column = arrow_child(batch, "text");

        for (int64_t i = 0; i < batch->length; i++) {
            const char *text;
            size_t n;

            if (arrow_text(column, i, &text, &n))
                total += n + (size_t)text[n - 1];
            rows++;
        }
    }
    if (rows != READ_ROWS || total == 0)
        exit(1);
    return ns_to_s(mono_now() - start);
}

static double cat(const char *path)
{
    AUTO_FREE char *command = xasprintf("exec cat %s >/dev/null", path);
    mono_ns start = mono_now();

    if (system(command) != 0)
        exit(1);
    return ns_to_s(mono_now() - start);
}

static void bench_reading(void)
{
    AUTO_FREE char *path = xasprintf("%s/text.arrow", dir);
    double ours = INFINITY, theirs = INFINITY;

    make_text_file(path);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        ours = fmin(ours, read_values(path));
        theirs = fmin(theirs, cat(path));
    }
    bench_print(&(struct bench_row){"reading 1 000 000 rows of text", "cat of the same file",
                                    theirs * 1e3, ours * 1e3, "ms", ours / theirs, "x", "<= 3x",
                                    ours <= 3 * theirs});
}

int main(void)
{
    if (!mkdtemp(dir))
        return 1;
    bench_writing();
    bench_reading();
    fs_remove_tree(AT_FDCWD, dir, NULL);
    return 0;
}
