/*
 * Made-up streams through the reader of OpenAI's protocol, in all pieces, the quick way and the
 * thorough one.
 */
#include "harness.h"

#include "client/reader.h"

#define NO_USAGE       \
    {                  \
        -1, -1, -1, -1 \
    }

/* A stream and what must be read from it. */
struct stream {
    const char *text;
    enum failure failure;
    const char *words; /* part of them */
    const char *answer, *reasoning, *finish;
    int64_t deltas;
};

#define D(json)     "data: " json "\n\n"
#define DELTA(json) D("{\"choices\":[{\"index\":0,\"delta\":" json ",\"finish_reason\":null}]}")
#define STOP        D("{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}")
#define DONE        "data: [DONE]\n\n"

static const struct stream streams[] = {
    {DELTA("{\"content\":\"a\"}") STOP DONE, FAILURE_NONE, "", "a", "", "stop", 1},
    /* without [DONE], without the last blank line, with all that may surround events */
    {DELTA("{\"content\":\"a\"}") STOP, FAILURE_NONE, "", "a", "", "stop", 1},
    {DELTA("{\"content\":\"a\"}") "data: {\"choices\":[{\"finish_reason\":\"stop\"}]}",
     FAILURE_NONE, "", "a", "", "stop", 1},
    {": ping\r\n\r\nevent: message\r\nid: 1\r\n" DELTA("{\"content\":\"a\"}") "data:\n\n" STOP,
     FAILURE_NONE, "", "a", "", "stop", 1},
    /* empty, null and absent texts are no tokens */
    {DELTA("{\"role\":\"assistant\",\"content\":\"\"}") DELTA("{\"content\":null}") DELTA("{}")
         DELTA("{\"reasoning_content\":null,\"role\":\"assistant\",\"content\":\"\"}")
             D("{\"choices\":[{\"delta\":null}]}") D("{\"choices\":[]}") D("{}")
                 D("{\"choices\":null}") DELTA("{\"content\":\"a\"}") STOP,
     FAILURE_NONE, "", "a", "", "stop", 1},
    /* the spellings of reasoning; two of them at once are one text */
    {DELTA("{\"reasoning_content\":\"1\"}") DELTA("{\"reasoning\":\"2\",\"content\":\"\"}")
         DELTA("{\"thinking\":\"3\"}") DELTA("{\"reasoning\":\"4\",\"reasoning_content\":\"4\"}")
             DELTA("{\"reasoning\":\"5\",\"content\":\"a\"}") STOP,
     FAILURE_NONE, "", "a", "12345", "stop", 6},
    /* escapes, ordinary and not */
    {DELTA("{\"content\":\"\\n\\\"\\u00e9\\u003c\xE2\x82\xAC\"}")
         DELTA("{\"content\":\"\\ud83d\\ude00\"}") STOP,
     FAILURE_NONE, "", "\n\"\xC3\xA9<\xE2\x82\xAC\xF0\x9F\x98\x80", "", "stop", 2},
    /* tool calls are tokens without text */
    {DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"\"}}]}")
         DELTA("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}")
             DELTA("{\"function_call\":{\"name\":\"g\"}}") DELTA("{\"tool_calls\":[]}")
                 D("{\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}"),
     FAILURE_NONE, "", "", "", "tool_calls", 3},
    /* the finish reason may ride with the last text */
    {D("{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"length\"}]}"),
     FAILURE_NONE, "", "a", "", "length", 1},
    /* completions, and a whole answer in one event */
    {D("{\"choices\":[{\"text\":\"a\",\"index\":0,\"logprobs\":null,\"finish_reason\":null}]}")
         D("{\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}"),
     FAILURE_NONE, "", "a", "", "stop", 1},
    {D("{\"choices\":[{\"message\":{\"content\":\"abc\"},\"finish_reason\":\"stop\"}]}"),
     FAILURE_NONE, "", "abc", "", "stop", 1},
    /* the other choices do not mix in */
    {D("{\"choices\":[{\"index\":1,\"delta\":{\"content\":\"x\"}},"
       "{\"index\":0,\"delta\":{\"content\":\"a\"}}]}")
         D("{\"choices\":[{\"index\":1,\"finish_reason\":\"stop\"}]}") STOP,
     FAILURE_NONE, "", "a", "", "stop", 1},
    /* blanks, unknown members, numbers of all kinds */
    {"data: { \"choices\" : [ { \"delta\" : { \"content\" : \"a\" } , \"index\" : 0 } ] ,"
     " \"x\": [1.5, -2e3, {\"y\": null}, [[[[[[[[[[0]]]]]]]]]]] }\n\n" STOP,
     FAILURE_NONE, "", "a", "", "stop", 1},
    /* an empty finish reason is none */
    {D("{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"\"}]}"), FAILURE_NO_END,
     "without a finish reason, after 1 events", "a", "", "", 1},
    /* [DONE] proves nothing */
    {DELTA("{\"content\":\"a\"}") DONE, FAILURE_NO_END, "without a finish reason", "a", "", "", 1},
    {"", FAILURE_NO_END, "after 0 events", "", "", "", 0},
    /* errors of all shapes */
    {DELTA("{\"content\":\"a\"}") D("{\"error\":{\"message\":\"boom\",\"code\":500}}") DONE,
     FAILURE_STREAM, "error in the stream: boom", "a", "", "", 1},
    {D("{\"error\":\"boom\"}"), FAILURE_STREAM, "boom", "", "", "", 0},
    {D("{\"error\":{\"object\":\"error\",\"message\":\"boom\"}}") STOP, FAILURE_STREAM, "boom", "",
     "", "", 0},
    {D("{\"object\":\"error\",\"message\":\"boom\"}"), FAILURE_STREAM, "boom", "", "", "", 0},
    {"event: error\n" D("{\"message\":\"boom\"}"), FAILURE_STREAM, "boom", "", "", "", 0},
    {D("{\"choices\":[{\"error\":{\"message\":\"boom\"},\"finish_reason\":\"error\"}]}"),
     FAILURE_STREAM, "boom", "", "", "", 0},
    {D("{\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"error\"}]}"),
     FAILURE_STREAM, "finish_reason \"error\"", "a", "", "", 1},
    {D("{\"error\":{}}"), FAILURE_STREAM, "error in the stream: {}", "", "", "", 0},
    /* not errors */
    {D("{\"error\":null,\"choices\":[{\"delta\":{\"content\":\"a\"},\"error\":null}]}")
         D("{\"error\":\"\",\"choices\":[]}") D("{\"error\":false,\"choices\":[]}") STOP,
     FAILURE_NONE, "", "a", "", "stop", 1},
    /* garbage */
    {D("{\"choices\":[{\"delta\":{\"content\":\"a\"}}") STOP, FAILURE_GARBAGE, "event 1 is ", "",
     "", "", 0},
    {DELTA("{\"content\":\"a\"}") D("nonsense") STOP, FAILURE_GARBAGE, "event 2 is not JSON", "a",
     "", "", 1},
    {D("42"), FAILURE_GARBAGE, "event 1 is not a JSON object", "", "", "", 0},
    {DELTA("{\"content\":\"\xFF\xFE\"}") STOP, FAILURE_GARBAGE, "event 1 is ", "", "", "", 0},
    {DELTA("{\"content\":\"overlong \xC0\x80\"}") STOP, FAILURE_GARBAGE, "event 1 is not UTF-8", "",
     "", "", 0},
    {DELTA("{\"content\":\"surrogate \xED\xA0\x80\"}") STOP, FAILURE_GARBAGE,
     "event 1 is not UTF-8", "", "", "", 0},
    {"<html><body>hello</body></html>\n", FAILURE_GARBAGE, "not a stream of events", "", "", "", 0},
    {"{\"choices\":[]}", FAILURE_GARBAGE, "not a stream of events", "", "", "", 0},
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
    reader_init(&r, &openai_reader, &memory, &p, 1 << 20);
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

/* Feeds the events one by one, each at a time of its own: 10, 20, 30 ... */
static void read_events(const char *const *events, struct response *p, enum failure failure)
{
    struct reader_memory memory;
    struct reader r;
    mono_ns at = 10;

    reader_memory_init(&memory);
    response_init(p, 1 << 20);
    reader_init(&r, &openai_reader, &memory, p, 1 << 20);
    for (; *events; events++, at += 10)
        assert_int_equal(reader_feed(&r, *events, strlen(*events), at), 0);
    reader_end(&r);
    assert_int_equal(r.failure, failure);
    reader_release(&r);
    reader_memory_release(&memory);
}

static void assert_usage(const struct response *p, struct usage u)
{
    assert_memory_equal(&p->usage, &u, sizeof(u));
}

static void keeps_the_last_usage(void **state)
{
    /* as Ollama's /v1/completions: zeros with every event, OpenAI: null, then the real one */
    static const char *const events[] = {
        D("{\"choices\":[{\"text\":\"a\"}],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0,"
          "\"total_tokens\":0}}"),
        D("{\"choices\":[{\"text\":\"b\",\"finish_reason\":\"stop\"}],\"usage\":null}"),
        D("{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
          "\"prompt_tokens_details\":{\"cached_tokens\":3},"
          "\"completion_tokens_details\":{\"reasoning_tokens\":1}}}"),
        D("{\"choices\":[],\"usage\":null}"),
        DONE,
        NULL};
    struct response p;

    (void)state;
    read_events(events, &p, FAILURE_NONE);
    assert_usage(&p, (struct usage){7, 2, 3, 1});
    /* latency ends with the last text, not with the usage */
    assert_int_equal(p.first_token, 10);
    assert_int_equal(p.end, 20);
    response_release(&p);
}

static void usage_of_other_servers(void **state)
{
    static const char *const sglang[] = {
        STOP,
        D("{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,"
          "\"reasoning_tokens\":1,\"prompt_tokens_details\":null}}"),
        D("{\"choices\":[],\"sglext\":{}}"), NULL};
    static const char *const odd[] = {
        STOP,
        D("{\"usage\":{\"prompt_tokens\":-5,\"completion_tokens\":\"2\","
          "\"prompt_tokens_details\":7}}"),
        NULL};
    static const char *const none[] = {DELTA("{\"content\":\"a\"}"), STOP, NULL};
    struct response p;

    (void)state;
    read_events(sglang, &p, FAILURE_NONE);
    assert_usage(&p, (struct usage){7, 2, -1, 1});
    assert_int_equal(p.end, 10); /* no text: when the finish came */
    response_release(&p);
    read_events(odd, &p, FAILURE_NONE);
    assert_usage(&p, (struct usage)NO_USAGE);
    response_release(&p);
    read_events(none, &p, FAILURE_NONE);
    assert_usage(&p, (struct usage)NO_USAGE);
    response_release(&p);
}

static void reads_vllm_metrics(void **state)
{
    static const char *const events[] = {
        STOP,
        D("{\"choices\":[],\"metrics\":{\"time_to_first_token_ms\":12.5,\"generation_time_ms\":100,"
          "\"queue_time_ms\":0.25,\"mean_itl_ms\":null}}"),
        NULL};
    struct response p;

    (void)state;
    read_events(events, &p, FAILURE_NONE);
    assert_int_equal(p.timings.load_ns, -1);
    assert_int_equal(p.timings.queue_ns, 250000);
    assert_int_equal(p.timings.prefill_ns, 12500000);
    assert_int_equal(p.timings.decode_ns, 100000000);
    response_release(&p);
}

static void bounds_the_answer(void **state)
{
    static const char abc[] = DELTA("{\"content\":\"abc\"}"), d[] = DELTA("{\"content\":\"d\"}");
    struct reader_memory memory;
    struct response p;
    struct reader r;

    (void)state;
    reader_memory_init(&memory);
    response_init(&p, 3);
    reader_init(&r, &openai_reader, &memory, &p, 1 << 20);
    assert_int_equal(reader_feed(&r, abc, sizeof(abc) - 1, 1), 0);
    assert_int_equal(reader_feed(&r, d, sizeof(d) - 1, 2), -1);
    assert_int_equal(r.failure, FAILURE_TOO_LARGE);
    reader_release(&r);
    /* the body */
    reader_init(&r, &openai_reader, &memory, &p, 10);
    assert_int_equal(reader_feed(&r, "data: 12", 8, 1), 0);
    assert_int_equal(reader_feed(&r, "345", 3, 2), -1);
    assert_int_equal(r.failure, FAILURE_TOO_LARGE);
    reader_release(&r);
    /* a long finish reason is cut between characters */
    reader_init(&r, &openai_reader, &memory, &p, 1000);
    reader_finish(&r, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\xC3\xA9z");
    assert_string_equal(p.finish_reason, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    reader_release(&r);
    response_release(&p);
    reader_memory_release(&memory);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_streams),          cmocka_unit_test(keeps_the_last_usage),
    cmocka_unit_test(usage_of_other_servers), cmocka_unit_test(reads_vllm_metrics),
    cmocka_unit_test(bounds_the_answer),
};
TEST_MAIN(tests)
