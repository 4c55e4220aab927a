/*
 * The openai client: recorded exchanges through a real socket, and what it does around a query.
 */
#include "support/clientrun.h"

/* clang-format off */
#define NO_USAGE   {-1, -1, -1, -1}
#define NO_TIMINGS {-1, -1, -1, -1}

static const struct golden goldens[] = {
    {"llamacpp/chat-stream-usage", NULL, FAILURE_NONE, 200, NULL, true, false, 24, "length",
     {27, 24, 1, -1}, {-1, -1, 1880000, 5837000}},
    {"llamacpp/chat-stream-nousage", NULL, FAILURE_NONE, 200, NULL, true, false, 8, "length",
     {27, 8, 26, -1}, {-1, -1, 506000, 1732000}},
    {"llamacpp/chat-ping-110M", NULL, FAILURE_NONE, 200, NULL, true, false, 6, "length",
     {1552, 6, 0, -1}, {-1, -1, 7682992000, 266286000}},
    {"llamacpp/chat-progress-110M", NULL, FAILURE_NONE, 200, NULL, true, false, 6, "length",
     {1552, 6, 0, -1}, {-1, -1, 9712545000, 2737855000}},
    {"llamacpp/chat-reasoning", NULL, FAILURE_NONE, 200, NULL, false, true, 6, "length",
     {25, 6, 0, -1}, {-1, -1, 14053000, 17739000}},
    {"llamacpp/completions-stream-usage", "completions", FAILURE_NONE, 200, NULL, true, false, 24,
     "length", {5, 24, 1, -1}, {-1, -1, 748000, 9043000}},
    {"llamacpp/chat-midstream-error", NULL, FAILURE_STREAM, 200,
     "HTTP 200: error in the stream: The model produced output that does not match", true, false,
     37, NULL, NO_USAGE, NO_TIMINGS},
    {"llamacpp/chat-server-killed", NULL, FAILURE_CUT, 200, "the connection broke off", true, false,
     275, NULL, NO_USAGE, NO_TIMINGS},
    {"llamacpp/err-404", NULL, FAILURE_STATUS, 404, "HTTP 404: File Not Found", false, false, 0,
     NULL, NO_USAGE, NO_TIMINGS},
    {"llamacpp/err-badjson", NULL, FAILURE_STATUS, 500,
     "HTTP 500: [json.exception.parse_error.101] parse error", false, false, 0, NULL, NO_USAGE,
     NO_TIMINGS},
    {"llamacpp/err-ctx", NULL, FAILURE_STATUS, 400,
     "HTTP 400: request (1502 tokens) exceeds the available context size (512 tokens)", false,
     false, 0, NULL, NO_USAGE, NO_TIMINGS},
    {"llamacpp/health-loading", NULL, FAILURE_STATUS, 503, "HTTP 503: Loading model", false, false,
     0, NULL, NO_USAGE, NO_TIMINGS},
    {"llamacpp/health", NULL, FAILURE_GARBAGE, 200,
     "application/json; charset=utf-8 instead of text/event-stream: {\"status\":\"ok\"}", false,
     false, 0, NULL, NO_USAGE, NO_TIMINGS},
    {"llamacpp/metrics", NULL, FAILURE_GARBAGE, 200, "text/plain; version=0.0.4 instead of", false,
     false, 0, NULL, NO_USAGE, NO_TIMINGS},
    {"ollama/openai-chat-stream", NULL, FAILURE_NONE, 200, NULL, true, false, 6, "length",
     {57, 6, -1, -1}, NO_TIMINGS},
};
/* clang-format on */

static void replays_recorded_exchanges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++)
        replay("openai", &goldens[i]);
}

#define D(json)     "data: " json "\n\n"
#define DELTA(json) D("{\"choices\":[{\"index\":0,\"delta\":" json ",\"finish_reason\":null}]}")
#define DONE        "data: [DONE]\n\n"

static struct buf ok_answer = BUF_INIT(1 << 16), refusal = BUF_INIT(1 << 16);
static struct script ok_script, refusal_script;

/* Answers that several tests play. */
static int setup(void **state)
{
    make_stream(&ok_answer, "text/event-stream",
                DELTA("{\"content\":\"hi\"}")
                    D("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}") DONE);
    ok_script = (struct script)SCRIPT(ok_answer.data, ok_answer.len, .end = SCRIPT_KEEP);
    make_reply(&refusal, "400 Bad Request", "application/json", "",
               "{\"error\":{\"message\":\"Unrecognized request argument: stream_options\"}}");
    refusal_script = (struct script)SCRIPT(refusal.data, refusal.len, .end = SCRIPT_KEEP);
    return run_clean_environment(state);
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&ok_answer);
    buf_release(&refusal);
    return 0;
}

static void sends_the_request(void **state)
{
    struct run run = {.id = "vllm"};
    struct asked a;

    (void)state;
    kv_add(&run.params, "api_key", "sk-123456");
    kv_add(&run.params, "header", "X-Team: blue");
    kv_add(&run.params, "header", "X-Two: 2");
    kv_add(&run.generation, "max_tokens", "64");
    kv_add(&run.generation, "max_tokens", "128");
    kv_add(&run.generation, "stop", "[\"\\n\"]");
    kv_add(&run.generation, "temperature", "0.5");
    kv_add(&run.generation, "user", "not json");
    run_ready(&run, &ok_script, 1);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_contains(run.server->requests[0], "POST /v1/chat/completions HTTP/1.1\r\n");
    assert_contains(run.server->requests[0], "\r\nAuthorization: Bearer sk-123456\r\n");
    assert_contains(run.server->requests[0], "\r\nX-Team: blue\r\nX-Two: 2\r\n");
    assert_contains(run.server->requests[0], "\r\nContent-Type: application/json\r\n");
    assert_null(strstr(run.server->requests[0], "Accept-Encoding"));
    assert_string_equal(
        scriptserver_body(run.server, 0),
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Say \\\"hi\\\"\\n\"}],"
        "\"stream\":true,\"stream_options\":{\"include_usage\":true},\"max_tokens\":128,"
        "\"stop\":[\"\\n\"],\"temperature\":0.5,\"user\":\"not json\"}");
    asked_release(&a);
    run_close(&run);
}

/* A prompt of megabytes arrives whole, and at once: no waiting for a 100. */
static void sends_a_long_prompt(void **state)
{
    struct run run = {.id = "openai"};
    size_t n = 3 << 20;
    char *prompt = malloc(n);
    struct asked a = {0};

    (void)state;
    memset(prompt, 'x', n);
    run_ready(&run, &ok_script, 1);
    response_init(&a.response, RESPONSE_MAX);
    a.query = (struct client_query){.prompt = prompt,
                                    .prompt_len = n,
                                    .response = &a.response,
                                    .on_event = asked_event,
                                    .user = &a};
    run.ops->start(run.ctx, &a.query);
    run_finish(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_int_equal(strspn(strstr(scriptserver_body(run.server, 0), "xx"), "x"), n);
    assert_null(strstr(run.server->requests[0], "Expect:"));
    free(prompt);
    asked_release(&a);
    run_close(&run);
}

static void completions_and_overrides(void **state)
{
    struct run run = {.id = "openai"};
    struct asked a;

    (void)state;
    kv_add(&run.params, "endpoint", "completions");
    kv_add(&run.generation, "stream_options", "{\"include_usage\":false}");
    run_ready(&run, &ok_script, 1);
    run_ask(&run, &a);
    assert_contains(run.server->requests[0], "POST /v1/completions HTTP/1.1\r\n");
    assert_null(strstr(run.server->requests[0], "Authorization"));
    assert_string_equal(scriptserver_body(run.server, 0),
                        "{\"model\":\"m\",\"prompt\":\"Say \\\"hi\\\"\\n\",\"stream\":true,"
                        "\"stream_options\":{\"include_usage\":false}}");
    asked_release(&a);
    run_close(&run);
    run = (struct run){.id = "openai"};
    kv_add(&run.generation, "messages", "[{\"role\":\"user\",\"content\":\"x\"}]");
    run_ready(&run, &ok_script, 1);
    run_ask(&run, &a);
    assert_contains(scriptserver_body(run.server, 0),
                    "\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]");
    assert_null(strstr(scriptserver_body(run.server, 0), "Say"));
    asked_release(&a);
    run_close(&run);
}

/* Opening fails with these words. */
static void refuses(struct run *run, const char *words)
{
    const struct client_ops *ops = client_find("openai", NULL);
    struct err err = {0};
    void *ctx = NULL;

    run->config.params = &run->params;
    run->config.generation = &run->generation;
    assert_fails(ops->open(&run->config, &ctx, &err), EINVAL, &err, words);
    assert_null(ctx);
    assert_null(strstr(err.text, "hunter2"));
    kv_list_release(&run->params);
    kv_list_release(&run->generation);
    *run = (struct run){0};
}

static void checks_its_configuration(void **state)
{
    struct run run = {0};

    (void)state;
    kv_add(&run.params, "apikey", "hunter2");
    refuses(&run, "unknown client parameter 'apikey': did you mean 'api_key'?");
    kv_add(&run.params, "colour", "hunter2");
    refuses(&run, "there are: api_key, endpoint, header, ready_timeout");
    kv_add(&run.params, "endpoint", "generate");
    refuses(&run, "'generate' is neither 'chat' nor 'completions'");
    kv_add(&run.params, "ready_timeout", "soon");
    refuses(&run, "ready_timeout: 'soon' is not a time");
    kv_add(&run.params, "header", "hunter2");
    refuses(&run, "expected 'Name: value'");
    kv_add(&run.params, "header", "X: hunter2\r\nEvil: 1");
    refuses(&run, "expected 'Name: value'");
    kv_add(&run.params, "header", ": hunter2");
    refuses(&run, "expected 'Name: value'");
    kv_add(&run.params, "api_key", "hunter2\n");
    refuses(&run, "control characters");
    kv_add(&run.generation, "model", "\"x\"");
    refuses(&run, "generation parameter 'model' cannot be set");
    kv_add(&run.generation, "stream", "false");
    refuses(&run, "'stream' cannot be set");
    kv_add(&run.generation, "prompt", "x");
    refuses(&run, "'prompt' cannot be set");
    run.config.base_url = "ftp://me:hunter2@host";
    refuses(&run, "must begin with http://");
}

static void keys_come_from_the_environment(void **state)
{
    static const struct {
        const char *ipw, *openai, *param, *header, *sent;
    } cases[] = {
        {NULL, NULL, NULL, NULL, NULL},
        {NULL, "from-openai", NULL, NULL, "Authorization: Bearer from-openai\r\n"},
        {"from-ipw", "from-openai", NULL, NULL, "Authorization: Bearer from-ipw\r\n"},
        {"", "from-openai", NULL, NULL, "Authorization: Bearer from-openai\r\n"},
        {"from-ipw", "from-openai", "mine", NULL, "Authorization: Bearer mine\r\n"},
        {"from-ipw", "from-openai", "", NULL, NULL},
        {"from-ipw", NULL, NULL, "authorization: Basic abcdefgh",
         "authorization: Basic abcdefgh\r\n"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = {.id = "openai"};
        struct asked a;

        if (cases[i].ipw)
            setenv("IPW_API_KEY", cases[i].ipw, 1);
        if (cases[i].openai)
            setenv("OPENAI_API_KEY", cases[i].openai, 1);
        if (cases[i].param)
            kv_add(&run.params, "api_key", cases[i].param);
        if (cases[i].header)
            kv_add(&run.params, "header", cases[i].header);
        run_ready(&run, &ok_script, 1);
        run_ask(&run, &a);
        if (cases[i].sent)
            assert_contains(run.server->requests[0], cases[i].sent);
        else
            assert_null(strcasestr(run.server->requests[0], "Authorization"));
        if (cases[i].header)
            assert_null(strstr(run.server->requests[0], "Bearer"));
        asked_release(&a);
        run_close(&run);
        run_clean_environment(NULL);
    }
}

/* A server that repeats what it got does not make us tell the key. */
static void never_tells_secrets(void **state)
{
    AUTO(buf) struct buf answer = BUF_INIT(1 << 16);
    struct script s;
    struct run run = {.id = "openai"};
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct json_writer w = json_writer(&text, JSON_LINE);
    struct model_list models = {0};
    struct err err = {0};
    char url[300];
    struct asked a;

    (void)state;
    make_reply(&answer, "401 Unauthorized", "application/json", "",
               "{\"error\":{\"message\":\"bad key sk-secret-1 or Bearer tok-secret-3 of user "
               "pw-secret-2: sk-secret-1\"}}");
    s = (struct script)SCRIPT(answer.data, answer.len, .end = SCRIPT_KEEP);
    kv_add(&run.params, "api_key", "sk-secret-1");
    kv_add(&run.params, "header", "X-Auth: Bearer tok-secret-3");
    run_serve(&run, &s, 1);
    snprintf(url, sizeof(url), "http://user:pw-secret-2@%s", run.url + 7);
    run.config.base_url = url;
    run_open(&run);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_STATUS);
    assert_contains(a.response.error, "HTTP 401: bad key *** or *** of user ***: ***");
    assert_null(strstr(a.response.error, "secret"));
    assert_int_equal(run.ops->models(run.ctx, &models, &err), -EPROTO);
    assert_contains(err.text, "/v1/models: HTTP 401: bad key ***");
    assert_null(strstr(err.text, "secret"));
    jw_begin_object(&w, NULL);
    run.ops->describe(run.ctx, &w);
    jw_end_object(&w);
    assert_null(strstr(text.data, "secret"));
    assert_contains(text.data, "\"url\":\"http://127.0.0.1:");
    asked_release(&a);
    run_close(&run);
}

static void withdraws_usage_when_refused(void **state)
{
    struct script scripts[] = {refusal_script, ok_script};
    struct run run = {.id = "openai"};
    struct asked a;

    (void)state;
    scripts[1].delay_ms = 50;
    run_ready(&run, scripts, 2);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_string_equal(a.response.answer.data, "hi");
    assert_int_equal(a.response.http_status, 200);
    assert_int_equal(a.events[CLIENT_SENT], 2);
    assert_int_equal(a.events[CLIENT_HEADERS], 1);
    assert_true(a.response.headers - a.response.sent >= 45 * NS_PER_MS);
    assert_contains(scriptserver_body(run.server, 0), "stream_options");
    assert_null(strstr(scriptserver_body(run.server, 1), "stream_options"));
    asked_release(&a);
    /* remembered */
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_int_equal(a.events[CLIENT_SENT], 1);
    assert_int_equal(scriptserver_requests(run.server), 3);
    assert_null(strstr(scriptserver_body(run.server, 2), "stream_options"));
    asked_release(&a);
    run_close(&run);
}

/* A refusal that was not about it is reported, and the next query asks for usage again. */
static void reports_the_second_refusal(void **state)
{
    AUTO(buf) struct buf second = BUF_INIT(1 << 16);
    struct script scripts[] = {refusal_script, {0}, ok_script};
    struct run run = {.id = "openai"};
    struct asked a;

    (void)state;
    make_reply(&second, "422 Unprocessable Entity", "application/json", "",
               "{\"detail\":\"unknown field: topp\"}");
    scripts[1] = (struct script)SCRIPT(second.data, second.len, .end = SCRIPT_KEEP);
    run_ready(&run, scripts, 3);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_STATUS);
    assert_contains(a.response.error, "HTTP 422: unknown field: topp");
    asked_release(&a);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_contains(scriptserver_body(run.server, 2), "stream_options");
    asked_release(&a);
    run_close(&run);
}

static void appends_the_version(void **state)
{
    static const struct {
        const char *path, *request;
    } cases[] = {{"", "POST /v1/chat/completions "},
                 {"/", "POST /v1/chat/completions "},
                 {"/v1/", "POST /v1/chat/completions "},
                 {"/openai/v1", "POST /openai/v1/chat/completions "},
                 {"/v1beta/openai", "POST /v1beta/openai/chat/completions "},
                 {"/api", "POST /api/v1/chat/completions "}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = {.id = "openai"};
        struct asked a;

        run_serve(&run, &ok_script, 1);
        snprintf(run.url, sizeof(run.url), "127.0.0.1:%d%s", run.server->port, cases[i].path);
        run_open(&run);
        run_ask(&run, &a);
        assert_int_equal(a.response.failure, FAILURE_NONE);
        assert_contains(run.server->requests[0], cases[i].request);
        asked_release(&a);
        run_close(&run);
    }
}

static void lists_models(void **state)
{
    static const struct {
        const char *file;
        size_t n;
        const char *first;
    } cases[] = {{"llamacpp/models", 1, "models/stories260K.gguf"},
                 {"ollama/openai-models", 3, "rand-134m:latest"}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) struct buf bytes = BUF_INIT(1 << 20);
        AUTO(model_list) struct model_list models = {0};
        struct run run = {.id = "openai"};
        struct script s;
        struct err err = {0};

        read_fixture(cases[i].file, ".raw", &bytes);
        s = (struct script)SCRIPT(bytes.data, bytes.len, .split = 3);
        run_serve(&run, &s, 1);
        run.config.model = NULL;
        run_open(&run);
        assert_ok(run.ops->models(run.ctx, &models, &err), &err);
        assert_int_equal(models.n, cases[i].n);
        assert_string_equal(models.names[0], cases[i].first);
        assert_contains(run.server->requests[0], "GET /v1/models HTTP/1.1\r\n");
        run_close(&run);
    }
}

static void models_tell_what_is_wrong(void **state)
{
    static const char not_json[] = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    AUTO(buf) struct buf loading = BUF_INIT(1 << 16);
    AUTO(model_list) struct model_list models = {0};
    struct run run = {.id = "openai"};
    struct script scripts[2];
    struct err err = {0};

    (void)state;
    read_fixture("llamacpp/health-loading", ".raw", &loading);
    scripts[0] = (struct script)SCRIPT(loading.data, loading.len);
    scripts[1] = (struct script)SCRIPT(not_json, sizeof(not_json) - 1);
    run_ready(&run, scripts, 2);
    assert_fails(run.ops->models(run.ctx, &models, &err), EAGAIN, &err,
                 "/v1/models: HTTP 503: Loading model");
    assert_fails(run.ops->models(run.ctx, &models, &err), EINVAL, &err, "/v1/models: not JSON");
    assert_int_equal(models.n, 0);
    run_close(&run);
}

struct words_seen {
    int calls;
    int cancel_at;
    char last[ERR_TEXT_MAX];
};

static int see_words(void *arg, const char *words)
{
    struct words_seen *w = arg;

    snprintf(w->last, sizeof(w->last), "%s", words);
    return ++w->calls == w->cancel_at;
}

static void prepare_waits_for_a_loading_server(void **state)
{
    AUTO(buf) struct buf loading = BUF_INIT(1 << 16);
    AUTO(buf) struct buf models = BUF_INIT(1 << 16);
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct json_writer w = json_writer(&text, JSON_LINE);
    struct run run = {.id = "llamacpp"};
    struct words_seen seen = {0};
    struct script scripts[2];
    struct err err = {0};

    (void)state;
    read_fixture("llamacpp/health-loading", ".raw", &loading);
    read_fixture("llamacpp/models", ".raw", &models);
    scripts[0] = (struct script)SCRIPT(loading.data, loading.len);
    scripts[1] = (struct script)SCRIPT(models.data, models.len);
    run_serve(&run, scripts, 2);
    run.config.model = "models/stories260K.gguf";
    run_open(&run);
    assert_ok(run.ops->prepare(run.ctx, see_words, &seen, &err), &err);
    assert_int_equal(seen.calls, 1);
    assert_contains(seen.last, "waiting for the server, 1");
    assert_contains(seen.last, " s left: http://127.0.0.1:");
    assert_contains(seen.last, "Loading model");
    jw_begin_object(&w, NULL);
    run.ops->describe(run.ctx, &w);
    jw_end_object(&w);
    assert_contains(text.data, "\"server\":\"llama.cpp\",\"model_parameters\":292800,"
                               "\"model_bytes\":1171200,\"quantization\":\"all F32\","
                               "\"context_length\":512,\"usage_refused\":false}");
    run_close(&run);
}

static void prepare_gives_up(void **state)
{
    AUTO(buf) struct buf loading = BUF_INIT(1 << 16);
    struct words_seen seen = {.cancel_at = 1};
    struct run run = {.id = "openai"};
    struct script s;
    struct err err = {0};

    (void)state;
    read_fixture("llamacpp/health-loading", ".raw", &loading);
    s = (struct script)SCRIPT(loading.data, loading.len);
    kv_add(&run.params, "ready_timeout", "10ms");
    run_ready(&run, &s, 1);
    assert_fails(run.ops->prepare(run.ctx, NULL, NULL, &err), EAGAIN, &err, "Loading model");
    run_close(&run);
    run = (struct run){.id = "openai"};
    run_ready(&run, &s, 1);
    assert_fails(run.ops->prepare(run.ctx, see_words, &seen, &err), ECANCELED, &err, "cancelled");
    run_close(&run);
}

static void prepare_checks_the_model(void **state)
{
    static const char no_list[] = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
    static const char empty[] = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"data\":[]}";
    AUTO(buf) struct buf bytes = BUF_INIT(1 << 16);
    struct script scripts[3];
    static const struct {
        const char *model;
        int script;
        const char *words; /* NULL = it is fine */
    } cases[] = {{"rand-11m", 0, NULL},
                 {"rand-11m:latest", 0, NULL},
                 {"rand-12m", 0, "has no model 'rand-12m': did you mean 'rand-11m'?"},
                 {"zzz", 0,
                  "has no model 'zzz'. It has: rand-134m:latest, rand-11m:latest, "
                  "stories260k:latest"},
                 {"rand-11m:q4", 0, "has no model 'rand-11m:q4'"},
                 {"anything", 1, NULL},
                 {"anything", 2, NULL}};

    (void)state;
    read_fixture("ollama/openai-models", ".raw", &bytes);
    scripts[0] = (struct script)SCRIPT(bytes.data, bytes.len);
    scripts[1] = (struct script)SCRIPT(no_list, sizeof(no_list) - 1);
    scripts[2] = (struct script)SCRIPT(empty, sizeof(empty) - 1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct run run = {.id = "openai"};
        struct err err = {0};

        run_serve(&run, &scripts[cases[i].script], 1);
        run.config.model = cases[i].model;
        run_open(&run);
        if (cases[i].words)
            assert_fails(run.ops->prepare(run.ctx, NULL, NULL, &err), ENOENT, &err, cases[i].words);
        else
            assert_ok(run.ops->prepare(run.ctx, NULL, NULL, &err), &err);
        run_close(&run);
    }
}

static void answers_to_its_names(void **state)
{
    static const char *const names[] = {"openai", "vllm", "llamacpp", "sglang", "openai-server"};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(client_find(names[i], &err)->plugin.id, "openai");
    assert_null(client_find("opnai", &err));
    assert_contains(err.text, "unknown client 'opnai': did you mean 'openai'?");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(replays_recorded_exchanges),
    cmocka_unit_test(sends_the_request),
    cmocka_unit_test(sends_a_long_prompt),
    cmocka_unit_test(completions_and_overrides),
    cmocka_unit_test(checks_its_configuration),
    cmocka_unit_test(keys_come_from_the_environment),
    cmocka_unit_test(never_tells_secrets),
    cmocka_unit_test(withdraws_usage_when_refused),
    cmocka_unit_test(reports_the_second_refusal),
    cmocka_unit_test(appends_the_version),
    cmocka_unit_test(lists_models),
    cmocka_unit_test(models_tell_what_is_wrong),
    cmocka_unit_test(prepare_waits_for_a_loading_server),
    cmocka_unit_test(prepare_gives_up),
    cmocka_unit_test(prepare_checks_the_model),
    cmocka_unit_test(answers_to_its_names),
};

int main(void)
{
    return cmocka_run_group_tests(tests, setup, teardown);
}
