/*
 * The server around the embedded model: our own clients get from it what the client 'pocket' gets
 * without it, every refusal is in the words of its protocol, and nothing that a client does, or
 * stops doing, ends it.
 */
#include "support/clientrun.h"

#include "base/rng.h"
#include "serve/listen.h"
#include "serve/serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static struct serve *server;

static int setup(void **state)
{
    struct serve_options o = {.listen = "127.0.0.1:0", .threads = 2};
    struct err err = {0};

    assert_ok(serve_open(&o, &server, &err), &err);
    return run_clean_environment(state);
}

static int teardown(void **state)
{
    (void)state;
    serve_close(server);
    server = NULL;
    return 0;
}

/* A plain socket to the server. */
static int dial(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = 30};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), port = 0;

    assert_int_equal(sscanf(serve_url(server), "http://127.0.0.1:%d", &port), 1);
    a.sin_port = htons((uint16_t)port);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    return fd;
}

/* False when the other side has closed. */
static bool say(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t r = send(fd, p, n, MSG_NOSIGNAL);

        if (r <= 0)
            return false;
        p += r;
        n -= (size_t)r;
    }
    return true;
}

static void say_request(int fd, const char *method, const char *path, const char *more,
                        const char *body, size_t n)
{
    AUTO(buf) struct buf head = BUF_INIT(1 << 16);

    buf_addf(&head, "%s %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n%s", method, path, more);
    if (body)
        buf_addf(&head, "Content-Length: %zu\r\n", n);
    buf_adds(&head, "\r\n");
    if (say(fd, head.data, head.len) && body)
        say(fd, body, n);
}

static void hear(int fd, struct buf *ret)
{
    char piece[4096];
    ssize_t n;

    while ((n = recv(fd, piece, sizeof(piece), 0)) > 0)
        buf_add(ret, piece, (size_t)n);
    buf_addc(ret, '\0');
    ret->len--;
}

/* One request and its whole answer, headers and all. */
static void exchange(const char *method, const char *path, const char *more, const char *body,
                     size_t n, struct buf *ret)
{
    int fd = dial();

    buf_clear(ret);
    say_request(fd, method, path, more, body, n);
    hear(fd, ret);
    close(fd);
}

static int status_of(const struct buf *reply)
{
    int status = 0;

    sscanf(buf_str(reply), "HTTP/1.1 %d ", &status);
    return status;
}

static const char *body_of(const struct buf *reply)
{
    const char *end = strstr(buf_str(reply), "\r\n\r\n");

    return end ? end + 4 : "";
}

/* The answer of the client 'pocket', which needs no server. */
static void ask_inside(const char *prompt, struct buf *ret)
{
    struct run run = {.id = "pocket"};
    struct asked a = {0};

    run.config.params = &run.params;
    run.config.generation = &run.generation;
    kv_add(&run.generation, "temperature", "1.2");
    kv_add(&run.generation, "max_tokens", "40");
    kv_add(&run.generation, "seed", "11");
    run_open(&run);
    response_init(&a.response, RESPONSE_MAX);
    a.query = (struct client_query){.prompt = prompt,
                                    .prompt_len = strlen(prompt),
                                    .response = &a.response,
                                    .on_event = asked_event,
                                    .user = &a};
    run.ops->start(run.ctx, &a.query);
    run_finish(&run, &a);
    buf_add(ret, buf_str(&a.response.answer), a.response.answer.len);
    asked_release(&a);
    run_close(&run);
}

#define AT_ONCE 12

/* Many queries of one of our HTTP clients at once. */
static void ask_with(const char *id, const char *endpoint)
{
    struct run run = {.id = id};
    static struct asked asked[AT_ONCE];
    AUTO(buf) struct buf inside = BUF_INIT(1 << 16);
    struct model_list models = {0};
    struct err err = {0};

    ask_inside("Say \"hi\"\n", &inside); /* what run_start asks */
    run.config = (struct client_config){.base_url = serve_url(server),
                                        .model = "pocket",
                                        .params = &run.params,
                                        .generation = &run.generation,
                                        .timeout_ns = 60 * NS_PER_S};
    kv_add(&run.params, "endpoint", endpoint);
    kv_add(&run.generation, "temperature", "1.2");
    kv_add(&run.generation, "max_tokens", "40");
    kv_add(&run.generation, "seed", "11");
    run_open(&run);
    assert_ok(run.ops->models(run.ctx, &models, &err), &err);
    assert_int_equal(models.n, 1);
    assert_true(model_name_matches(models.names[0], "pocket"));
    model_list_release(&models);
    assert_ok(run.ops->prepare(run.ctx, NULL, NULL, &err), &err);
    for (int i = 0; i < AT_ONCE; i++)
        run_start(&run, &asked[i]);
    for (int i = 0; i < AT_ONCE; i++) {
        const struct response *p = &asked[i].response;

        run_finish(&run, &asked[i]);
        assert_string_equal(p->error, "");
        assert_int_equal(p->failure, FAILURE_NONE);
        assert_string_equal(buf_str(&p->answer), buf_str(&inside));
        assert_int_equal(p->usage.prompt_tokens, 9);
        assert_int_equal(p->usage.completion_tokens, p->deltas);
        assert_string_equal(p->finish_reason, p->deltas == 40 ? "length" : "stop");
        assert_true(p->timings.queue_ns >= 0 && p->timings.prefill_ns > 0);
        assert_true(p->timings.decode_ns >= 0);
        assert_true(p->timings.queue_ns + p->timings.prefill_ns + p->timings.decode_ns <=
                    mono_now() - p->sent);
        check_times(p);
        asked_release(&asked[i]);
    }
    run_close(&run);
}

static void our_clients_are_served(void **state)
{
    (void)state;
    ask_with("openai", "chat");
    ask_with("openai", "completions");
    ask_with("ollama", "generate");
    ask_with("ollama", "chat");
}

/* The text of an answer in one document, whichever protocol. */
static const char *text_of(const struct json *root)
{
    const struct json *choice = json_first(json_get(root, "choices"));
    const struct json *from = choice ? choice : root, *message = json_get(from, "message");

    if (message)
        return json_text(json_get(message, "content"), NULL);
    return json_text(json_get(from, choice ? "text" : "response"), NULL);
}

/* The four ways to ask for an answer in one document. */
static void whole_answers(void **state)
{
    static const char *const cases[][2] = {
        {"/v1/completions", "{\"model\":\"pocket\",\"prompt\":[\"abc\"],\"max_tokens\":6}"},
        {"/v1/chat/completions",
         "{\"model\":\"pocket:latest\",\"max_completion_tokens\":6,\"messages\":["
         "{\"role\":\"user\",\"content\":\"not this\"},{\"role\":\"assistant\",\"content\":\"x\"},"
         "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
         "{\"type\":\"text\",\"text\":\"bc\"}]}]}"},
        {"/api/generate", "{\"model\":\"pocket\",\"prompt\":\"abc\",\"stream\":false,"
                          "\"options\":{\"num_predict\":6,\"num_ctx\":4096}}"},
        {"/api/chat", "{\"model\":\"pocket\",\"stream\":false,\"options\":{\"num_predict\":6},"
                      "\"messages\":[{\"role\":\"user\",\"content\":\"abc\"}]}"},
    };
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20), first = BUF_INIT(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(json_doc) struct json_doc doc = {0};
        const struct json *count;
        struct err err = {0};

        exchange("POST", cases[i][0], "", cases[i][1], strlen(cases[i][1]), &reply);
        assert_int_equal(status_of(&reply), 200);
        assert_ok(json_doc_parse(&doc, body_of(&reply), strlen(body_of(&reply)), &err), &err);
        count = i < 2 ? json_path(doc.root, "usage", "completion_tokens")
                      : json_get(doc.root, "eval_count");
        assert_non_null(text_of(doc.root));
        assert_int_equal(json_int(count, -1), strlen(text_of(doc.root)));
        if (i == 0)
            buf_adds(&first, text_of(doc.root));
        assert_string_equal(text_of(doc.root), buf_str(&first));
    }
}

struct bad {
    const char *method, *path, *more, *body;
    int status;
    const char *words;
};

#define ERR_V1(message)  "{\"error\":{\"message\":\"" message
#define ERR_API(message) "{\"error\":\"" message
#define MSG(content) \
    "{\"model\":\"pocket\",\"messages\":[{\"role\":\"user\",\"content\":" content "}]}"

static const struct bad bads[] = {
    {"GET", "/", "", NULL, 404, ERR_V1("there is no / here")},
    {"GET", "/v1/nope", "", NULL, 404, ERR_V1("there is no /v1/nope here")},
    {"POST", "/api/pull", "", "{}", 404, ERR_API("there is no /api/pull here")},
    {"GET", "/v1/completions", "", NULL, 405, ERR_V1("/v1/completions is not for GET")},
    {"GET", "/api/chat", "", NULL, 405, ERR_API("/api/chat is not for GET")},
    {"POST", "/api/tags", "", "{}", 405, ERR_API("/api/tags is not for POST")},
    {"OPTIONS", "/v1/models", "Origin: http://evil.example\r\n", NULL, 405, "Allow: GET, HEAD\r\n"},
    {"POST", "/v1/completions", "Content-Type: multipart/form-data; boundary=x\r\n", "{}", 415,
     ERR_V1("the request is 'multipart/form-data")},
    {"POST", "/v1/completions", "", "", 400, ERR_V1("missing request body")},
    {"POST", "/v1/completions", "", "{nope", 400, ERR_V1("the body: not JSON")},
    {"POST", "/api/generate", "", "{nope", 400, ERR_API("the body: not JSON")},
    {"POST", "/api/generate", "", "[]", 400, ERR_API("the body is not a JSON object")},
    {"POST", "/api/generate", "", "{\"model\":\"pocket\",\"prompt\":\"\xff\"}", 400,
     ERR_API("the body: not JSON")},
    {"POST", "/v1/completions", "", "{}", 400, ERR_V1("model is required")},
    {"POST", "/v1/completions", "", "{\"model\":3}", 400, "\"param\":\"model\",\"code\":null}}"},
    {"POST", "/v1/completions", "", "{\"model\":\"gpt\"}", 404, "\"code\":\"model_not_found\"}}"},
    {"POST", "/v1/completions", "", "{\"model\":\"pocket\\u0000x\"}", 404,
     ERR_V1("model 'pocket'")},
    {"POST", "/api/chat", "", "{\"model\":\"llama\"}", 404, ERR_API("model 'llama' not found")},
    {"POST", "/v1/completions", "", "{\"model\":\"pocket\"}", 400, ERR_V1("prompt: one text")},
    {"POST", "/v1/completions", "", "{\"model\":\"pocket\",\"prompt\":[1,2]}", 400,
     "\"param\":\"prompt\""},
    {"POST", "/api/generate", "", "{\"model\":\"pocket\",\"prompt\":[1]}", 400,
     ERR_API("prompt: a text")},
    {"POST", "/v1/completions", "", "{\"model\":\"pocket\",\"prompt\":\"x\",\"n\":2}", 400,
     ERR_V1("n: one answer")},
    {"POST", "/v1/completions", "", "{\"model\":\"pocket\",\"prompt\":\"x\",\"stream\":\"yes\"}",
     400, ERR_V1("stream: true or false")},
    {"POST", "/v1/completions", "", "{\"model\":\"pocket\",\"prompt\":\"x\",\"temperature\":-1}",
     400, ERR_V1("temperature: a number from 0 to 100 is expected")},
    {"POST", "/api/generate", "",
     "{\"model\":\"pocket\",\"prompt\":\"x\",\"options\":{\"num_predict\":0}}", 400,
     ERR_API("num_predict: a whole number")},
    {"POST", "/api/generate", "", "{\"model\":\"pocket\",\"prompt\":\"x\",\"think\":true}", 400,
     ERR_API("\\\"pocket\\\" does not support thinking")},
    {"POST", "/v1/chat/completions", "", "{\"model\":\"pocket\"}", 400,
     ERR_V1("messages: a list of messages is expected")},
    {"POST", "/v1/chat/completions", "", "{\"model\":\"pocket\",\"messages\":[]}", 400,
     ERR_V1("messages: there is none of the role")},
    {"POST", "/v1/chat/completions", "", "{\"model\":\"pocket\",\"messages\":[7]}", 400,
     ERR_V1("messages: a message must be an object")},
    {"POST", "/v1/chat/completions", "", MSG("null"), 400, ERR_V1("messages: a content")},
    {"POST", "/v1/chat/completions", "", MSG("[{\"type\":\"image_url\",\"image_url\":{}}]"), 400,
     ERR_V1("messages: only parts of the type")},
    {"POST", "/api/chat", "", MSG("[3]"), 400, ERR_API("messages: only parts of the type")},
};

static void refusals_are_the_protocols_own(void **state)
{
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20);

    (void)state;
    for (size_t i = 0; i < sizeof(bads) / sizeof(bads[0]); i++) {
        const struct bad *b = &bads[i];

        exchange(b->method, b->path, b->more, b->body, b->body ? strlen(b->body) : 0, &reply);
        if (status_of(&reply) != b->status || !strstr(buf_str(&reply), b->words))
            fail_msg("%s %s %s: %s", b->method, b->path, b->body ? b->body : "", buf_str(&reply));
        assert_null(strstr(buf_str(&reply), "Access-Control"));
        assert_non_null(strstr(buf_str(&reply), "Content-Type: application/json"));
    }
    exchange("HEAD", "/v1/models", "", NULL, 0, &reply);
    assert_int_equal(status_of(&reply), 200);
    assert_string_equal(body_of(&reply), "");
}

/* Bodies of a size or depth that no honest client sends. */
static void hostile_bodies(void **state)
{
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20);
    size_t big = 10 << 20, n = 900 << 10;
    char *body = malloc(big);

    (void)state;
    memset(body, 'x', big);
    exchange("POST", "/api/chat", "", body, big, &reply);
    assert_int_equal(status_of(&reply), 413);
    assert_string_equal(body_of(&reply),
                        "{\"error\":\"the request is larger than 1048576 bytes\"}");
    exchange("POST", "/v1/completions", "Expect: 100-continue\r\n", body, big, &reply);
    assert_int_equal(status_of(&reply), 413);
    exchange("POST", "/v1/completions", "", body, n, &reply);
    assert_int_equal(status_of(&reply), 400);
    memset(body, '[', n);
    exchange("POST", "/v1/completions", "", body, n, &reply);
    assert_int_equal(status_of(&reply), 400);
    assert_contains(buf_str(&reply), "the body has more than 20000 values");
    exchange("POST", "/v1/completions", "", body, 1000, &reply);
    assert_int_equal(status_of(&reply), 400);
    for (size_t i = 0; i < n; i++)
        body[i] = "{\"a\":"[i % 5];
    exchange("POST", "/api/generate", "", body, 19000, &reply);
    assert_int_equal(status_of(&reply), 400);
    /* a prompt of most of a megabyte is text, but not for this context; its commas do no harm */
    memset(body, ',', n);
    memcpy(body, "{\"model\":\"pocket\",\"prompt\":\"", 28);
    memcpy(body + n - 2, "\"}", 2);
    exchange("POST", "/v1/completions", "", body, n, &reply);
    assert_int_equal(status_of(&reply), 400);
    assert_contains(buf_str(&reply), "\"code\":\"context_length_exceeded\"");
    free(body);
}

/* Bytes that are not even HTTP. */
static void noise(void **state)
{
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20);
    struct rng rng = rng_seed(4, RNG_STREAM_PLAIN);

    (void)state;
    for (int i = 0; i < 20; i++) {
        char bytes[3000];
        int fd = dial();

        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (char)rng_u64(&rng);
        say(fd, bytes, sizeof(bytes));
        say(fd, "\r\n\r\n", 4);
        shutdown(fd, SHUT_WR);
        buf_clear(&reply);
        hear(fd, &reply);
        assert_int_not_equal(status_of(&reply), 200);
        close(fd);
    }
}

static const char endless[] =
    "{\"model\":\"pocket\",\"prompt\":\"x\",\"max_tokens\":-1,\"temperature\":1,\"stream\":true}";

/* Closes after the first byte, every other time with a reset. */
static void vanish_while_streaming(int i)
{
    struct linger reset = {.l_onoff = 1};
    int fd = dial();
    char c;

    say_request(fd, "POST", "/v1/completions", "", endless, sizeof(endless) - 1);
    assert_int_equal(recv(fd, &c, 1, 0), 1);
    if (i % 2)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    close(fd);
}

static void clients_that_vanish_do_no_harm(void **state)
{
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20);

    (void)state;
    for (int i = 0; i < 50; i++)
        vanish_while_streaming(i);
    for (int i = 0; i < 20; i++) {
        int fd = dial(); /* before the answer */

        say_request(fd, "POST", "/api/generate", "", "{\"model\":\"pocket\",\"prompt\":\"x\"}", 31);
        close(fd);
        fd = dial(); /* a whole answer, while it is made */
        say_request(fd, "POST", "/v1/completions", "", "{\"model\":\"pocket\",\"prompt\":\"x\"}",
                    31);
        close(fd);
        fd = dial(); /* in the middle of the body */
        say_request(fd, "POST", "/v1/completions", "Content-Length: 500000\r\n", NULL, 0);
        say(fd, endless, sizeof(endless) - 1);
        close(fd);
    }
    exchange("POST", "/v1/completions", "", "{\"model\":\"pocket\",\"prompt\":\"x\"}", 31, &reply);
    assert_int_equal(status_of(&reply), 200);
    our_clients_are_served(NULL);
}

/* More than can wait: each gets an answer, or is told to come again. */
static void a_crowd_is_answered_or_refused(void **state)
{
    enum { CROWD = 120 };
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20);
    int fds[CROWD], answered = 0, refused = 0;

    (void)state;
    for (int i = 0; i < CROWD; i++) {
        fds[i] = dial();
        say_request(fds[i], "POST", "/v1/completions", "", endless, sizeof(endless) - 1);
    }
    for (int i = 0; i < CROWD; i++) {
        buf_clear(&reply);
        hear(fds[i], &reply);
        close(fds[i]);
        if (status_of(&reply) == 200) {
            assert_contains(buf_str(&reply), "data: [DONE]\n\n");
            answered++;
        } else {
            assert_int_equal(status_of(&reply), 503);
            assert_contains(buf_str(&reply), "Retry-After: 1\r\n");
            assert_contains(buf_str(&reply), "server busy");
            refused++;
        }
    }
    assert_int_equal(answered + refused, CROWD);
    assert_true(answered >= SERVE_WAITING_MAX);
}

static void closing_ends_streams(void **state)
{
    struct serve_options o = {.listen = "127.0.0.1:0", .threads = 1};
    AUTO(buf) struct buf reply = BUF_INIT(1 << 20);
    struct serve *other = server;
    struct err err = {0};
    int fds[5];

    (void)state;
    assert_ok(serve_open(&o, &server, &err), &err);
    for (int i = 0; i < 5; i++) {
        const char *body = i % 2 ? endless : "{\"model\":\"pocket\",\"prompt\":\"x\"}";

        fds[i] = dial();
        say_request(fds[i], "POST", "/v1/completions", "", body, strlen(body));
    }
    serve_close(server);
    for (int i = 0; i < 5; i++) {
        hear(fds[i], &reply);
        close(fds[i]);
    }
    server = other;
}

static void listens_where_it_is_told(void **state)
{
    static const char *const bad[] = {"",           "8000",         "localhost",    ":8000",
                                      "127.0.0.1:", "127.0.0.1:x",  "::1:80",       "[]:80",
                                      "[::1]",      "127.0.0.1:-1", "1.2.3.4:65536"};
    struct listener l = {0}, again = {0};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_fails(listen_open(bad[i], &l, &err), EINVAL, &err, "is not HOST:PORT");
    assert_fails(listen_open("[::zz]:80", &l, &err), EINVAL, &err, "cannot listen");
    assert_ok(listen_open("127.0.0.1:0", &l, &err), &err);
    assert_true(l.local && !l.ipv6);
    assert_memory_equal(l.url, "http://127.0.0.1:", 17);
    assert_fails(listen_open(l.url + 7, &again, &err), EADDRINUSE, &err, "cannot listen on 127");
    close(l.fd);
    assert_ok(listen_open("0.0.0.0:0", &l, &err), &err);
    assert_false(l.local);
    close(l.fd);
    if (listen_open("[::1]:0", &l, &err) == 0) { /* not every machine has IPv6 */
        assert_true(l.local && l.ipv6);
        assert_memory_equal(l.url, "http://[::1]:", 13);
        close(l.fd);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(our_clients_are_served),
    cmocka_unit_test(whole_answers),
    cmocka_unit_test(refusals_are_the_protocols_own),
    cmocka_unit_test(hostile_bodies),
    cmocka_unit_test(noise),
    cmocka_unit_test(clients_that_vanish_do_no_harm),
    cmocka_unit_test(a_crowd_is_answered_or_refused),
    cmocka_unit_test(closing_ends_streams),
    cmocka_unit_test(listens_where_it_is_told),
};

int main(void)
{
    return cmocka_run_group_tests(tests, setup, teardown);
}
