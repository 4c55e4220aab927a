/*
 * The test server itself: what it says in every dialect, when it says it, and replay. Other tests
 * trust its texts, its counts and its log, so these are checked against answer.h exactly.
 */
#include "answer.h"
#include "harness.h"
#include "probe.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define FAST "--ttft", "1ms", "--itl", "0.1ms"

static const char prompt[] = "What is the capital of France?";

static void assert_text(const struct buf *text, const char *question, uint64_t seed, int64_t from,
                        int64_t n)
{
    AUTO(buf) struct buf expected = BUF_INIT(BUF_MAX_OWN);

    answer_add(&expected, answer_key(question, strlen(question), seed), from, from + n);
    assert_string_equal(buf_str(text), buf_str(&expected));
}

/* The body of a request in either protocol, chat or not. */
static void make_body(struct buf *out, const char *path, bool stream, bool usage, int max_tokens)
{
    bool ollama = strncmp(path, "/api/", 5) == 0;
    const char *flag = stream ? "true" : "false";

    buf_adds(out, "{\"model\":\"fake-model\",");
    if (strstr(path, "chat"))
        buf_addf(out,
                 "\"messages\":[{\"role\":\"system\",\"content\":\"Be brief.\"},"
                 "{\"role\":\"user\",\"content\":\"%s\"}]",
                 prompt);
    else
        buf_addf(out, "\"prompt\":\"%s\"", prompt);
    if (ollama)
        buf_addf(out, ",\"stream\":%s,\"options\":{\"num_predict\":%d}}", flag, max_tokens);
    else
        buf_addf(out, ",\"stream\":%s%s,\"max_tokens\":%d}", flag,
                 usage ? ",\"stream_options\":{\"include_usage\":true}" : "", max_tokens);
}

static struct probe_answer ask(const struct probe_server *s, const char *path, bool stream,
                               bool usage, int max_tokens)
{
    AUTO(buf) struct buf body = BUF_INIT(4096);
    struct probe_reply r;
    struct probe_answer a;

    make_body(&body, path, stream, usage, max_tokens);
    r = probe_post(s, path, buf_str(&body));
    assert_int_equal(r.status, 200);
    assert_true(r.complete);
    a = probe_answer(&r);
    assert_false(a.bad_json);
    assert_string_equal(a.error, "");
    probe_reply_release(&r);
    return a;
}

static void assert_answer(struct probe_answer *a, int tokens, const char *finish)
{
    assert_text(&a->text, prompt, 0, 0, tokens);
    assert_string_equal(a->finish, finish);
    probe_answer_release(a);
}

/* Every dialect, chat and completion, streamed and not: exact text, finish, usage. */
static void speaks_openai(void **state)
{
    static const char *const dialects[] = {"openai", "llamacpp", "vllm", "sglang", "ollama-v1"};
    static const char *const paths[] = {"/v1/chat/completions", "/v1/completions"};

    (void)state;
    for (size_t d = 0; d < 5; d++) {
        struct probe_server s =
            probe_start((const char *[]){"--dialect", dialects[d], "--tokens", "40", FAST, NULL});

        for (size_t p = 0; p < 2; p++) {
            struct probe_answer a = ask(&s, paths[p], true, true, 12);
            bool llamacpp = d == 1, told_anyway = llamacpp && p == 1;

            assert_int_equal(a.completion_tokens, 12);
            assert_int_equal(a.prompt_tokens, answer_prompt_tokens(strlen(prompt)));
            assert_int_equal(a.with_text, 12);
            assert_true(a.done);
            assert_true(a.timings == (llamacpp || d == 2));
            assert_answer(&a, 12, "length");
            a = ask(&s, paths[p], true, false, 100);
            assert_int_equal(a.completion_tokens, told_anyway ? 40 : -1);
            assert_answer(&a, 40, "stop");
            a = ask(&s, paths[p], false, false, 7);
            assert_int_equal(a.completion_tokens, 7);
            assert_int_equal(a.events, 1);
            assert_answer(&a, 7, "length");
        }
        probe_stop(&s);
    }
}

static void speaks_ollama(void **state)
{
    static const char *const paths[] = {"/api/chat", "/api/generate"};
    struct probe_server s = probe_start((const char *[]){"--tokens", "40", FAST, NULL});

    (void)state;
    for (size_t p = 0; p < 2; p++) {
        struct probe_answer a = ask(&s, paths[p], true, false, 12);

        assert_int_equal(a.completion_tokens, 12);
        assert_int_equal(a.prompt_tokens, answer_prompt_tokens(strlen(prompt)));
        assert_int_equal(a.events, 13);
        assert_true(a.done && a.timings);
        assert_answer(&a, 12, "length");
        a = ask(&s, paths[p], true, false, -1);
        assert_answer(&a, 40, "stop");
        a = ask(&s, paths[p], false, false, 5);
        assert_int_equal(a.events, 1);
        assert_answer(&a, 5, "length");
    }
    probe_stop(&s);
}

static void assert_reply(struct probe_reply r, int status, const char *part)
{
    assert_int_equal(r.status, status);
    assert_true(r.complete);
    if (!strstr(buf_str(&r.body), part))
        fail_msg("'%s' does not contain '%s'", buf_str(&r.body), part);
    probe_reply_release(&r);
}

static void tells_what_it_has(void **state)
{
    struct probe_server s = probe_start(
        (const char *[]){"--dialect", "ollama-v1", "--model", "a", "--model", "b:1", NULL});

    (void)state;
    assert_reply(probe_get(&s, "/"), 200, "Ollama is running");
    assert_reply(probe_get(&s, "/api/version"), 200, "\"version\"");
    assert_reply(probe_get(&s, "/api/tags"), 200, "\"name\":\"a:latest\"");
    assert_reply(probe_get(&s, "/api/ps"), 200, "\"name\":\"b:1\"");
    assert_reply(probe_get(&s, "/v1/models"), 200, "\"id\":\"a:latest\"");
    assert_reply(probe_get(&s, "/api/none"), 404, "404 page not found");
    assert_reply(probe_get(&s, "/api/chat"), 405, "405");
    assert_reply(probe_post(&s, "/api/generate", "{\"model\":\"x\",\"prompt\":\"y\"}"), 404,
                 "{\"error\":\"model 'x' not found\"}");
    assert_reply(probe_post(&s, "/api/generate", "{\"model\":\"a\"}"), 200, "\"load\"");
    assert_reply(probe_post(&s, "/api/generate", "{\"model\":\"a:latest\",\"keep_alive\":0}"), 200,
                 "\"unload\"");
    assert_reply(probe_post(&s, "/api/generate", "{nope"), 400, "{\"error\":\"");
    assert_reply(probe_post(&s, "/v1/chat/completions", "{\"model\":\"a\"}"), 400,
                 "{\"error\":{\"message\":\"the request has no prompt\"");
    probe_stop(&s);
}

/* Each dialect's shape of an error, of the first delta and of reasoning: what clients trip over. */
static void has_the_dialects_manners(void **state)
{
    static const struct {
        const char *dialect, *error, *first, *reasoning;
    } rows[] = {
        {"openai",
         "{\"error\":{\"message\":\"an injected error\",\"type\":\"server_error\","
         "\"param\":null,\"code\":null}}",
         "{\"role\":\"assistant\",\"content\":\"\"}", "\"reasoning_content\":\""},
        {"llamacpp", "{\"error\":{\"code\":418,\"message\":\"an injected error\",",
         "{\"role\":\"assistant\",\"content\":null}", "\"reasoning_content\":\""},
        {"vllm", "\"type\":\"server_error\",\"param\":null,\"code\":418}}",
         "{\"role\":\"assistant\",\"content\":\"\"}", "\"reasoning\":\""},
        {"sglang", "{\"object\":\"error\",\"message\":\"an injected error\",",
         "{\"reasoning_content\":null,\"role\":\"assistant\",\"content\":\"\"}",
         "\"reasoning_content\":\""},
        {"ollama-v1", "{\"error\":{\"message\":\"an injected error\",",
         "{\"role\":\"assistant\",\"content\":\"\",\"reasoning\":\"", "\"reasoning\":\""},
    };
    static const char body[] = "{\"messages\":[{\"role\":\"user\",\"content\":\"x%s\"}],"
                               "\"stream\":true}";
    char text[256];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct probe_server s = probe_start((const char *[]){
            "--dialect", rows[i].dialect, "--tokens", "3", "--reasoning-tokens", "2", FAST, NULL});
        struct probe_reply r;
        struct probe_answer a;

        snprintf(text, sizeof(text), body, "[[fault:status:418]]");
        assert_reply(probe_post(&s, "/v1/chat/completions", text), 418, rows[i].error);
        snprintf(text, sizeof(text), body, "");
        r = probe_post(&s, "/v1/chat/completions", text);
        assert_non_null(strstr(buf_str(&r.body), rows[i].first));
        assert_non_null(strstr(buf_str(&r.body), rows[i].reasoning));
        a = probe_answer(&r);
        assert_text(&a.reasoning, "x", 0, ANSWER_REASONING, 2);
        assert_text(&a.text, "x", 0, 0, 3);
        probe_answer_release(&a);
        probe_reply_release(&r);
        probe_stop(&s);
    }
}

/* Ollama's completions carry usage of zeros on every chunk but the last. */
static void ollama_usage_of_zeros(void **state)
{
    struct probe_server s =
        probe_start((const char *[]){"--dialect", "ollama-v1", "--tokens", "3", FAST, NULL});
    AUTO(buf) struct buf body = BUF_INIT(4096);
    struct probe_reply r;
    int zeros = 0;

    (void)state;
    make_body(&body, "/v1/completions", true, true, 3);
    r = probe_post(&s, "/v1/completions", buf_str(&body));
    for (const char *p = buf_str(&r.body); (p = strstr(p, "\"total_tokens\":0}")); p++)
        zeros++;
    assert_int_equal(zeros, 4);
    probe_reply_release(&r);
    probe_stop(&s);
}

static void seed_and_ignore_eos(void **state)
{
    struct probe_server s = probe_start(
        (const char *[]){"--seed", "5", "--tokens", "4", "--chunk-tokens", "3", FAST, NULL});
    struct probe_reply r = probe_post(&s, "/v1/completions",
                                      "{\"prompt\":\"p\",\"stream\":true,\"max_tokens\":7,"
                                      "\"ignore_eos\":true}");
    struct probe_answer a = probe_answer(&r);

    (void)state;
    assert_text(&a.text, "p", 5, 0, 7);
    assert_string_equal(a.finish, "length");
    assert_int_equal(a.with_text, 3); /* 3 + 3 + 1 tokens */
    probe_answer_release(&a);
    probe_reply_release(&r);
    r = probe_post(&s, "/api/generate",
                   "{\"model\":\"fake-model\",\"prompt\":\"p\",\"options\":{\"seed\":6}}");
    a = probe_answer(&r);
    assert_text(&a.text, "p", 6, 0, 4);
    probe_answer_release(&a);
    probe_reply_release(&r);
    probe_stop(&s);
}

/* The log's times lie on the plan or after it, and before the client's own. */
static void logs_its_times(void **state)
{
    struct probe_server s = probe_start((const char *[]){
        "--ttft", "20ms", "--itl", "3ms", "--jitter", "1ms", "--prefill-rate", "1000", NULL});
    AUTO(buf) struct buf body = BUF_INIT(4096);
    AUTO(json_doc) struct json_doc doc = {0};
    mono_ns before = mono_now(), received, last = 0;
    struct probe_reply r;
    int64_t i = 0;

    (void)state;
    make_body(&body, "/v1/chat/completions", true, true, 10);
    r = probe_post(&s, "/v1/chat/completions", buf_str(&body));
    probe_log_line(&s, 0, &doc);
    received = json_int(json_get(doc.root, "received_ns"), -1);
    assert_true(received >= before);
    assert_true(json_int(json_get(doc.root, "headers_ns"), 0) >= received);
    assert_true(json_int(json_get(doc.root, "headers_ns"), 0) <= r.first_at);
    /* 30 bytes of prompt are 8 tokens: 8 ms at 1000 per second */
    JSON_FOREACH (t, json_get(doc.root, "sent_ns")) {
        assert_true(t->integer >= received + 28 * NS_PER_MS + i * 3 * NS_PER_MS);
        assert_true(t->integer >= last);
        last = t->integer;
        i++;
    }
    assert_int_equal(i, 10);
    assert_true(json_int(json_get(doc.root, "end_ns"), 0) >= last);
    assert_true(json_int(json_get(doc.root, "end_ns"), INT64_MAX) <= r.end_at);
    assert_int_equal(json_int(json_get(doc.root, "tokens"), -1), 10);
    assert_int_equal(json_int(json_get(doc.root, "prompt_tokens"), -1), 8);
    assert_int_equal(json_int(json_get(json_get(doc.root, "params"), "max_tokens"), -1), 10);
    assert_null(json_get(json_get(doc.root, "params"), "messages"));
    assert_string_equal(json_text(json_get(doc.root, "outcome"), ""), "ok");
    probe_reply_release(&r);
    probe_stop(&s);
}

/* Headers come before the prefill, or with the first token, as the dialect has it. */
static void headers_come_when_they_should(void **state)
{
    static const struct {
        const char *dialect, *path;
        bool early;
    } rows[] = {{"llamacpp", "/v1/completions", true},
                {"vllm", "/v1/completions", true},
                {"sglang", "/v1/completions", false},
                {"ollama-v1", "/v1/completions", false},
                {"openai", "/api/generate", false}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct probe_server s = probe_start(
            (const char *[]){"--dialect", rows[i].dialect, "--ttft", "60ms", "--itl", "0", NULL});
        AUTO(buf) struct buf body = BUF_INIT(4096);
        AUTO(json_doc) struct json_doc doc = {0};
        struct probe_reply r;

        make_body(&body, rows[i].path, true, false, 3);
        r = probe_post(&s, rows[i].path, buf_str(&body));
        probe_reply_release(&r);
        probe_log_line(&s, 0, &doc);
        /* in one write with the first token, or not */
        assert_true((json_int(json_get(doc.root, "headers_ns"), -1) <
                     json_int(json_first(json_get(doc.root, "sent_ns")), -1)) == rows[i].early);
        probe_stop(&s);
    }
}

static void keeps_connections_alive(void **state)
{
    struct probe_server s = probe_start((const char *[]){"--tokens", "2", FAST, NULL});
    AUTO(buf) struct buf two = BUF_INIT(4096);
    int fd = probe_connect(&s), answers = 0;
    struct probe_reply r;

    (void)state;
    /* both at once: the second waits for its turn */
    for (int i = 0; i < 2; i++)
        buf_addf(&two,
                 "POST /v1/completions HTTP/1.1\r\n%sContent-Length: %d\r\n\r\n"
                 "{\"prompt\":\"%d\",\"stream\":true}",
                 i ? "Connection: close\r\n" : "", 28, i);
    probe_send(fd, two.data, two.len);
    r = probe_read(fd, SIZE_MAX);
    for (const char *p = buf_str(&r.raw); (p = strstr(p, "data: [DONE]")); p++)
        answers++;
    assert_int_equal(answers, 2);
    probe_reply_release(&r);
    probe_stop(&s);
}

static void serves_a_unix_socket(void **state)
{
    char where[80], dir[64];
    struct probe_server s;
    struct probe_answer a;

    (void)state;
    make_temp_dir(dir);
    snprintf(where, sizeof(where), "unix:%s/s", dir);
    s = probe_start((const char *[]){"--listen", where, FAST, NULL});
    assert_string_equal(s.address, where);
    a = ask(&s, "/v1/completions", true, true, 6);
    assert_answer(&a, 6, "length");
    probe_stop(&s);
    assert_int_equal(rmdir(dir), 0); /* the socket is gone */
}

static void logs_what_a_stop_ends(void **state)
{
    struct probe_server s = probe_start((const char *[]){"--ttft", "1h", NULL});
    AUTO(json_doc) struct json_doc doc = {0};
    int fd = probe_connect(&s), status = 0;
    char byte[512];

    (void)state;
    probe_request(fd, "POST", "/v1/completions", "", "{\"prompt\":\"p\",\"stream\":true}");
    assert_true(recv(fd, byte, sizeof(byte), 0) > 0); /* headers: it has begun */
    kill(s.pid, SIGTERM);
    assert_int_equal(waitpid(s.pid, &status, 0), s.pid);
    assert_int_equal(status, 0);
    close(fd);
    close(s.stdin_fd);
    probe_log_line(&s, 0, &doc);
    assert_string_equal(json_text(json_get(doc.root, "outcome"), ""), "server_stopped");
    probe_remove(&s);
}

static void write_sample(const char *dir, const char *name, const char *ext, const char *text)
{
    char path[160];
    struct err err = {0};

    snprintf(path, sizeof(path), "%s/%s.%s", dir, name, ext);
    assert_ok(fs_replace(AT_FDCWD, path, text, strlen(text), &err), &err);
}

static void make_sample(const char *dir, const char *name, const char *request_body,
                        const char *body, const char *times)
{
    char text[512];

    snprintf(text, sizeof(text), "POST /v1/completions HTTP/1.1\r\nContent-Length: %zu\r\n\r\n%s",
             strlen(request_body), request_body);
    write_sample(dir, name, "req", text);
    snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s", strlen(body),
             body);
    write_sample(dir, name, "raw", text);
    write_sample(dir, name, "times", times);
}

static void replays(void **state)
{
    char dir[64];
    struct probe_server s;
    struct probe_reply r;
    AUTO(json_doc) struct json_doc doc = {0};
    mono_ns received, first, second;

    (void)state;
    make_temp_dir(dir);
    make_sample(dir, "a", "{\"n\":1}", "first", "0 10\n40000000 33\n");
    make_sample(dir, "b", "{\"n\":2}", "second", "0 44\n");
    s = probe_start((const char *[]){"--replay", dir, "--speed", "2", NULL});
    assert_reply(probe_post(&s, "/v1/completions", "{\"n\":9}"), 200, "first");
    assert_reply(probe_post(&s, "/v1/completions", "{\"n\":2}"), 200, "second");
    assert_reply(probe_post(&s, "/v1/completions?sample=b", "{\"n\":9}"), 200, "second");
    assert_reply(probe_post(&s, "/sample/b/v1/completions", "{\"n\":1}"), 200, "second");
    r = probe_get(&s, "/v1/completions");
    assert_int_equal(r.status, 404);
    probe_reply_release(&r);
    probe_log_line(&s, 0, &doc);
    received = json_int(json_get(doc.root, "received_ns"), -1);
    first = json_first(json_get(doc.root, "sent_ns"))->integer;
    second = json_first(json_get(doc.root, "sent_ns"))->next->integer;
    assert_true(first >= received && second >= received + 20 * NS_PER_MS);
    probe_stop(&s);
    assert_int_equal(fs_remove_tree(AT_FDCWD, dir, NULL), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(speaks_openai),           cmocka_unit_test(speaks_ollama),
    cmocka_unit_test(tells_what_it_has),       cmocka_unit_test(has_the_dialects_manners),
    cmocka_unit_test(ollama_usage_of_zeros),   cmocka_unit_test(seed_and_ignore_eos),
    cmocka_unit_test(logs_its_times),          cmocka_unit_test(headers_come_when_they_should),
    cmocka_unit_test(keeps_connections_alive), cmocka_unit_test(serves_a_unix_socket),
    cmocka_unit_test(logs_what_a_stop_ends),   cmocka_unit_test(replays),
};
TEST_MAIN(tests)
