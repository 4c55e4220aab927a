/*
 * The ollama client: recorded exchanges through a real socket, made-up streams through its reader,
 * and what it does around a query.
 */
#include "support/clientrun.h"

#include "client/reader.h"

/* clang-format off */
#define NO_USAGE   {-1, -1, -1, -1}
#define NO_TIMINGS {-1, -1, -1, -1}

static const struct golden goldens[] = {
    {"ollama/generate-stream-cold", NULL, FAILURE_NONE, 200, NULL, true, false, 12, "length",
     {67, 12, -1, -1}, {261419391, 293089468 - 261419391 - 8823000 - 20526000, 8823000, 20526000}},
    {"ollama/generate-stream-warm", NULL, FAILURE_NONE, 200, NULL, true, false, 12, "length",
     {67, 12, -1, -1}, {1037848, 16349706 - 1037848 - 1813000 - 11502000, 1813000, 11502000}},
    {"ollama/generate-thinking", NULL, FAILURE_NONE, 200, NULL, false, true, 5, "length",
     {35, 5, -1, -1}, {1163595, 10328391 - 1163595 - 1620000 - 4378000, 1620000, 4378000}},
    {"ollama/chat-stream", "chat", FAILURE_NONE, 200, NULL, true, false, 6, "length",
     {57, 6, -1, -1}, {1290342, 17104024 - 1290342 - 7759000 - 5220000, 7759000, 5220000}},
    {"ollama/generate-runner-killed", NULL, FAILURE_STREAM, 200,
     "HTTP 200: error in the stream: an error was encountered while running the model: unexpected "
     "EOF", true, false, 318, NULL, NO_USAGE, NO_TIMINGS},
    {"ollama/err-badjson", NULL, FAILURE_STATUS, 400, "HTTP 400: invalid character 'n' looking for",
     false, false, 0, NULL, NO_USAGE, NO_TIMINGS},
    {"ollama/err-nomodel", NULL, FAILURE_STATUS, 404, "HTTP 404: model 'nope' not found", false,
     false, 0, NULL, NO_USAGE, NO_TIMINGS},
    {"ollama/root", NULL, FAILURE_GARBAGE, 200,
     "text/plain; charset=utf-8 instead of application/x-ndjson: Ollama is running", false, false,
     0, NULL, NO_USAGE, NO_TIMINGS},
};
/* clang-format on */

static void replays_recorded_exchanges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(goldens) / sizeof(goldens[0]); i++)
        replay("ollama", &goldens[i]);
}

/* A stream and what must be read from it. */
struct stream {
    const char *text;
    enum failure failure;
    const char *words; /* part of them */
    const char *answer, *reasoning, *finish;
    int64_t deltas;
    struct usage usage;
};

#define R(text) "{\"model\":\"m\",\"response\":\"" text "\",\"done\":false}\n"
#define C(text) "{\"message\":{\"role\":\"assistant\",\"content\":\"" text "\"},\"done\":false}\n"
#define END     "{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\"}\n"
#define UNTOLD  NO_USAGE

static const struct stream streams[] = {
    {R("a") R("b") END, FAILURE_NONE, "", "ab", "", "stop", 2, UNTOLD},
    {R("a") "\n\r\n" R("") "{\"response\":\"b\",\"done\":true}", FAILURE_NONE, "", "ab", "", "stop",
     2, UNTOLD},
    {C("a\\n\\u003c") C("\\ud83d\\ude00") "{\"message\":{\"content\":\"\"},\"done\":true,"
                                          "\"done_reason\":\"length\",\"eval_count\":3}\n",
     FAILURE_NONE,
     "",
     "a\n<\xF0\x9F\x98\x80",
     "",
     "length",
     2,
     {-1, 3, -1, -1}},
    {"{\"response\":\"\",\"thinking\":\"t\",\"done\":false}\n"
     "{\"message\":{\"content\":\"\",\"thinking\":\"u\"},\"done\":false}\n" R("a") END,
     FAILURE_NONE, "", "a", "tu", "stop", 3, UNTOLD},
    {"{\"message\":{\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"f\"}}]},"
     "\"done\":false}\n" END,
     FAILURE_NONE, "", "", "", "stop", 1, UNTOLD},
    {"{\"response\":null,\"done\":false}\n{\"done\":false}\n{\"message\":null,\"done\":false}\n{}\n"
     "{\"response\":\"a\"}\n" END,
     FAILURE_NONE, "", "a", "", "stop", 1, UNTOLD},
    /* counters that are nonsense are not told */
    {R("a") "{\"done\":true,\"eval_count\":-1,\"prompt_eval_count\":\"x\"}\n", FAILURE_NONE, "",
     "a", "", "stop", 1, UNTOLD},
    /* the silent end: more than 30 equal tokens */
    {R("a") R("a"), FAILURE_NO_END, "without a finish reason, after 2 events", "aa", "", "", 2,
     UNTOLD},
    {"{\"response\":\"aa\",\"done\":false}", FAILURE_NO_END, "", "aa", "", "", 1, UNTOLD},
    {"", FAILURE_NO_END, "after 0 events", "", "", "", 0, UNTOLD},
    {R("a") "{\"error\":\"boom\"}\n", FAILURE_STREAM, "error in the stream: boom", "a", "", "", 1,
     UNTOLD},
    {R("a") "{\"error\":\"\",\"response\":\"b\"}\n{\"error\":null}\n" END, FAILURE_NONE, "", "ab",
     "", "stop", 2, UNTOLD},
    {R("a") "nonsense\n", FAILURE_GARBAGE, "event 2 is not JSON", "a", "", "", 1, UNTOLD},
    {R("\xC3\x28"), FAILURE_GARBAGE, "event 1 is not UTF-8", "", "", "", 0, UNTOLD},
    {"[1]\n", FAILURE_GARBAGE, "event 1 is not a JSON object", "", "", "", 0, UNTOLD},
};

static void check_stream(const struct stream *s, size_t piece, bool thorough)
{
    struct reader_memory memory;
    struct response p;
    struct reader r;
    size_t n = strlen(s->text);
    int result = 0;

    reader_memory_init(&memory);
    response_init(&p, 1 << 20);
    reader_init(&r, &ollama_reader, &memory, &p, 1 << 20);
    r.thorough = thorough;
    for (size_t i = 0; i < n && result == 0; i += piece)
        result = reader_feed(&r, s->text + i, piece < n - i ? piece : n - i, (mono_ns)(i + 1));
    if (result == 0)
        result = reader_end(&r);
    assert_int_equal(result, s->failure == FAILURE_NONE ? 0 : -1);
    if (r.failure != s->failure || !strstr(buf_str(&r.words), s->words))
        fail_msg("%s gave %s: %s", s->text, failure_name(r.failure), buf_str(&r.words));
    assert_string_equal(buf_str(&p.answer), s->answer);
    assert_string_equal(buf_str(&p.reasoning), s->reasoning);
    assert_string_equal(p.finish_reason, s->finish);
    assert_int_equal(p.deltas, s->deltas);
    assert_memory_equal(&p.usage, &s->usage, sizeof(p.usage));
    reader_release(&r);
    response_release(&p);
    reader_memory_release(&memory);
}

static void reads_streams(void **state)
{
    static const size_t pieces[] = {SIZE_MAX, 1, 7, 64};

    (void)state;
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        for (size_t k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
            check_stream(&streams[i], pieces[k], false);
            check_stream(&streams[i], pieces[k], true);
        }
}

/* The last line carries the context as numbers: hundreds of kB for a long one. */
static void reads_a_long_last_line(void **state)
{
    AUTO(buf) struct buf body = BUF_INIT(16 << 20);
    AUTO(buf) struct buf answer = BUF_INIT(16 << 20);
    struct script s;
    struct run run = {.id = "ollama"};
    struct asked a;

    (void)state;
    buf_adds(&body, R("a") "{\"response\":\"\",\"done\":true,\"eval_count\":1,\"context\":[1");
    for (int i = 0; i < 500000; i++)
        buf_addf(&body, ",%d", i);
    buf_adds(&body, "]}\n");
    make_stream(&answer, "application/x-ndjson", body.data);
    s = (struct script)SCRIPT(answer.data, answer.len);
    run_ready(&run, &s, 1);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_int_equal(a.response.usage.completion_tokens, 1);
    assert_string_equal(a.response.answer.data, "a");
    asked_release(&a);
    run_close(&run);
}

static struct buf ok_answer = BUF_INIT(1 << 16);
static struct script ok_script;

static int setup(void **state)
{
    make_stream(&ok_answer, "application/x-ndjson", R("hi") END);
    ok_script = (struct script)SCRIPT(ok_answer.data, ok_answer.len, .end = SCRIPT_KEEP);
    return run_clean_environment(state);
}

static int teardown(void **state)
{
    (void)state;
    buf_release(&ok_answer);
    return 0;
}

static void sends_the_request(void **state)
{
    struct run run = {.id = "ollama"};
    struct asked a;

    (void)state;
    setenv("OPENAI_API_KEY", "not-for-ollama", 1);
    kv_add(&run.generation, "max_tokens", "64");
    kv_add(&run.generation, "temperature", "0");
    kv_add(&run.generation, "options", "{\"num_ctx\":2048,\"seed\":1}");
    kv_add(&run.generation, "keep_alive", "5m");
    kv_add(&run.generation, "think", "true");
    kv_add(&run.generation, "system", "be brief");
    kv_add(&run.generation, "format", "{\"type\":\"object\"}");
    run_serve(&run, &ok_script, 1);
    snprintf(run.url, sizeof(run.url), "127.0.0.1:%d/", run.server->port);
    run_open(&run);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_contains(run.server->requests[0], "POST /api/generate HTTP/1.1\r\n");
    assert_null(strstr(run.server->requests[0], "Authorization"));
    assert_string_equal(scriptserver_body(run.server, 0),
                        "{\"model\":\"m\",\"keep_alive\":\"5m\",\"think\":true,"
                        "\"system\":\"be brief\",\"format\":{\"type\":\"object\"},"
                        "\"options\":{\"num_predict\":64,\"temperature\":0,\"num_ctx\":2048,"
                        "\"seed\":1},\"prompt\":\"Say \\\"hi\\\"\\n\",\"stream\":true}");
    asked_release(&a);
    run_close(&run);
    unsetenv("OPENAI_API_KEY");
}

static void sends_the_chat_request(void **state)
{
    struct run run = {.id = "ollama"};
    struct asked a;

    (void)state;
    setenv("IPW_API_KEY", "for-a-proxy", 1);
    kv_add(&run.params, "endpoint", "chat");
    kv_add(&run.generation, "system", "be brief");
    run_ready(&run, &ok_script, 1);
    run_ask(&run, &a);
    assert_contains(run.server->requests[0], "POST /api/chat HTTP/1.1\r\n");
    assert_contains(run.server->requests[0], "\r\nAuthorization: Bearer for-a-proxy\r\n");
    assert_string_equal(scriptserver_body(run.server, 0),
                        "{\"model\":\"m\",\"options\":{},\"messages\":[{\"role\":\"system\","
                        "\"content\":\"be brief\"},{\"role\":\"user\",\"content\":\"Say "
                        "\\\"hi\\\"\\n\"}],\"stream\":true}");
    asked_release(&a);
    run_close(&run);
    unsetenv("IPW_API_KEY");
}

static void checks_its_configuration(void **state)
{
    const struct client_ops *ops = client_find("ollama", NULL);
    struct kv_list params = {0}, generation = {0};
    struct client_config config = {.params = &params, .generation = &generation};
    struct err err = {0};
    void *ctx;

    (void)state;
    assert_string_equal(ops->default_url, "http://127.0.0.1:11434");
    kv_add(&params, "endpoint", "completions");
    assert_fails(ops->open(&config, &ctx, &err), EINVAL, &err,
                 "'completions' is neither 'generate' nor 'chat'");
    kv_list_release(&params);
    kv_add(&generation, "stream", "false");
    assert_fails(ops->open(&config, &ctx, &err), EINVAL, &err, "'stream' cannot be set");
    kv_list_release(&generation);
    ops->close(NULL);
}

static int count_words(void *arg, const char *words)
{
    assert_contains(words, "loading rand-11m (");
    ++*(int *)arg;
    return 0;
}

/* Asks for the list, the version, and loads the model with the options of the queries. */
static void prepares(void **state)
{
    AUTO(buf) struct buf tags = BUF_INIT(1 << 16);
    AUTO(buf) struct buf version = BUF_INIT(1 << 16);
    AUTO(buf) struct buf loaded = BUF_INIT(1 << 16);
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    struct json_writer w = json_writer(&text, JSON_LINE);
    struct run run = {.id = "ollama"};
    struct script scripts[3];
    struct err err = {0};
    int calls = 0;

    (void)state;
    read_fixture("ollama/tags", ".raw", &tags);
    read_fixture("ollama/version", ".raw", &version);
    make_reply(&loaded, "200 OK", "application/json; charset=utf-8", "",
               "{\"model\":\"rand-11m\",\"response\":\"\",\"done\":true,\"done_reason\":\"load\"}");
    scripts[0] = (struct script)SCRIPT(tags.data, tags.len, .split = 2);
    scripts[1] = (struct script)SCRIPT(version.data, version.len);
    scripts[2] = (struct script)SCRIPT(loaded.data, loaded.len, .delay_ms = 1200);
    kv_add(&run.generation, "num_ctx", "2048");
    run_serve(&run, scripts, 3);
    run.config.model = "rand-11m";
    run_open(&run);
    assert_ok(run.ops->prepare(run.ctx, count_words, &calls, &err), &err);
    assert_int_equal(calls, 1);
    assert_contains(run.server->requests[0], "GET /api/tags ");
    assert_contains(run.server->requests[1], "GET /api/version ");
    assert_contains(run.server->requests[2], "POST /api/generate ");
    assert_string_equal(scriptserver_body(run.server, 2),
                        "{\"model\":\"rand-11m\",\"options\":{\"num_ctx\":2048},\"prompt\":\"\","
                        "\"stream\":false}");
    jw_begin_object(&w, NULL);
    run.ops->describe(run.ctx, &w);
    jw_end_object(&w);
    assert_contains(text.data, "/api/generate\",\"server\":\"ollama 0.0.0-bench\","
                               "\"model_bytes\":21592375,\"model_digest\":\"d38314f2");
    assert_contains(text.data, "\"model_parameters\":\"10.69M\",\"quantization\":\"F16\","
                               "\"model_family\":\"llama\",\"context_length\":2048}");
    run_close(&run);
}

static void prepare_tells_what_is_wrong(void **state)
{
    AUTO(buf) struct buf tags = BUF_INIT(1 << 16);
    AUTO(buf) struct buf failed = BUF_INIT(1 << 16);
    struct run run = {.id = "ollama"};
    struct script scripts[3];
    struct err err = {0};

    (void)state;
    read_fixture("ollama/tags", ".raw", &tags);
    make_reply(&failed, "500 Internal Server Error", "application/json", "",
               "{\"error\":\"llama runner process has terminated\"}");
    scripts[0] = (struct script)SCRIPT(tags.data, tags.len);
    scripts[1] = scripts[2] = (struct script)SCRIPT(failed.data, failed.len);
    run_serve(&run, scripts, 3);
    run.config.model = "rand-11";
    run_open(&run);
    assert_fails(run.ops->prepare(run.ctx, NULL, NULL, &err), ENOENT, &err,
                 "has no model 'rand-11': did you mean 'rand-11m'? It has: rand-134m:latest, "
                 "rand-11m:latest, stories260k:latest");
    run_close(&run);
    run = (struct run){.id = "ollama"};
    run_serve(&run, scripts, 3);
    run.config.model = "rand-11m:latest";
    run_open(&run);
    assert_fails(run.ops->prepare(run.ctx, NULL, NULL, &err), EPROTO, &err,
                 "/api/generate: HTTP 500: llama runner process has terminated");
    run_close(&run);
}

static void lists_models(void **state)
{
    AUTO(buf) struct buf tags = BUF_INIT(1 << 16);
    AUTO(model_list) struct model_list models = {0};
    struct run run = {.id = "ollama"};
    struct script s;
    struct err err = {0};

    (void)state;
    read_fixture("ollama/tags", ".raw", &tags);
    s = (struct script)SCRIPT(tags.data, tags.len);
    run_serve(&run, &s, 1);
    run.config.model = NULL;
    run_open(&run);
    assert_ok(run.ops->models(run.ctx, &models, &err), &err);
    assert_int_equal(models.n, 3);
    assert_string_equal(models.names[2], "stories260k:latest");
    run_close(&run);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(replays_recorded_exchanges),
    cmocka_unit_test(reads_streams),
    cmocka_unit_test(reads_a_long_last_line),
    cmocka_unit_test(sends_the_request),
    cmocka_unit_test(sends_the_chat_request),
    cmocka_unit_test(checks_its_configuration),
    cmocka_unit_test(prepares),
    cmocka_unit_test(prepare_tells_what_is_wrong),
    cmocka_unit_test(lists_models),
};

int main(void)
{
    return cmocka_run_group_tests(tests, setup, teardown);
}
