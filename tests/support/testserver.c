/*
 * The child reads its end from a pipe that only we hold, so it never outlives us. A log line that
 * is no generation (a list of models) has no prompt and is left out.
 */
#include "testserver.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPTIONS_MAX = 64 };

static void run_child(const char *program, const char *const *options, const char *log, int in,
                      int out)
{
    const char *argv[OPTIONS_MAX + 5] = {program, "--exit-on-stdin-close", "--log", log};

    for (int i = 0; i < OPTIONS_MAX && options[i]; i++)
        argv[4 + i] = options[i];
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    /* exec takes pointers to char for history's sake; it does not write */
    execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

static int read_address(struct testserver *s, int fd, const char *program, struct err *err)
{
    AUTO_FILE FILE *f = fdopen(fd, "r");
    char line[160] = "";

    if (!f || !fgets(line, sizeof(line), f) || strncmp(line, "listening ", 10) != 0)
        return err_set(err, EIO, "%s did not say where it listens", program);
    line[strcspn(line, "\n")] = '\0';
    snprintf(s->url, sizeof(s->url), "http://%s", line + 10);
    return 0;
}

static int make_dir(struct testserver *s, struct err *err)
{
    char dir[] = "/tmp/ipw-testserver-XXXXXX";

    if (!mkdtemp(dir))
        return err_sys(err, errno, "%s", dir);
    snprintf(s->dir, sizeof(s->dir), "%s", dir);
    snprintf(s->log, sizeof(s->log), "%s/log", dir);
    return 0;
}

int testserver_start(const char *program, const char *const *options, struct testserver *ret,
                     struct err *err)
{
    AUTO(testserver) struct testserver s = TESTSERVER_NONE;
    AUTO_FD int in_theirs = -1, out_theirs = -1;
    int in[2], out[2], r = make_dir(&s, err);

    if (r < 0)
        return r;
    if (pipe2(in, O_CLOEXEC) < 0)
        return err_sys(err, errno, "pipe");
    in_theirs = in[0];
    s.stdin_fd = in[1];
    if (pipe2(out, O_CLOEXEC) < 0)
        return err_sys(err, errno, "pipe");
    out_theirs = out[1];
    s.pid = fork();
    if (s.pid == 0)
        run_child(program, options, s.log, in_theirs, out_theirs);
    if (s.pid < 0) {
        close(out[0]);
        return err_sys(err, errno, "fork");
    }
    close(steal_fd(&out_theirs)); /* else its death would not end our read */
    r = read_address(&s, out[0], program, err);
    if (r < 0)
        return r;
    *ret = s;
    s = (struct testserver)TESTSERVER_NONE;
    return 0;
}

int testserver_stop(struct testserver *s, struct err *err)
{
    int status = 0;

    if (s->stdin_fd >= 0)
        close(steal_fd(&s->stdin_fd));
    if (s->pid < 0)
        return 0;
    while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
        ;
    s->pid = -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(err, EIO, "the test server ended with status %#x", (unsigned)status);
    return 0;
}

void testserver_release(struct testserver *s)
{
    testserver_stop(s, NULL);
    if (*s->dir)
        fs_remove_tree(AT_FDCWD, s->dir, NULL);
    *s = (struct testserver)TESTSERVER_NONE;
}

static void add_served(struct served_log *l, const struct json *line)
{
    const char *hash = json_text(json_get(line, "prompt_hash"), NULL);
    const struct json *sent = json_get(line, "sent_ns");
    struct served *v;

    if (!hash)
        return;
    GROW(l->items, l->n, l->cap);
    v = &l->items[l->n++];
    *v = (struct served){.prompt_hash = strtoull(hash, NULL, 16),
                         .status = (int)json_int(json_get(line, "status"), 0),
                         .end = json_int(json_get(line, "end_ns"), MONO_ABSENT),
                         .prompt_tokens = json_int(json_get(line, "prompt_tokens"), -1),
                         .tokens = json_int(json_get(line, "tokens"), -1),
                         .joules = json_real(json_get(line, "joules"), NAN),
                         .received = json_int(json_get(line, "received_ns"), MONO_ABSENT)};
    snprintf(v->fault, sizeof(v->fault), "%s", json_text(json_get(line, "fault"), ""));
    snprintf(v->outcome, sizeof(v->outcome), "%s", json_text(json_get(line, "outcome"), ""));
    v->sent = xcalloc((sent ? sent->len : 0) + 1, sizeof(*v->sent));
    JSON_FOREACH (t, sent)
        v->sent[v->n_sent++] = json_int(t, MONO_ABSENT);
}

int testserver_log(const struct testserver *s, struct served_log *ret, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT((size_t)256 << 20);
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO(served_log) struct served_log log = {0};
    const char *line, *end;
    int r = fs_read_all(AT_FDCWD, s->log, &text, err);

    for (line = buf_str(&text); r == 0 && (end = strchr(line, '\n')); line = end + 1) {
        r = json_doc_parse(&doc, line, (size_t)(end - line), err);
        if (r == 0)
            add_served(&log, doc.root);
    }
    if (r < 0)
        return err_prefix(err, "%s", s->log);
    *ret = log;
    log = (struct served_log){0};
    return 0;
}

void served_log_release(struct served_log *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i].sent);
    free(l->items);
    *l = (struct served_log){0};
}

const struct served *served_find(const struct served_log *l, uint64_t prompt_hash)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->items[i].prompt_hash == prompt_hash)
            return &l->items[i];
    return NULL;
}
