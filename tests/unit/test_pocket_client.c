/*
 * The client 'pocket' by the contract of clients.
 */
#include "support/clientrun.h"

#include "client/pocket/pool.h"

#include <sys/eventfd.h>
#include <unistd.h>

/* run_open without a server. */
static void ready(struct run *r)
{
    r->config.params = &r->params;
    r->config.generation = &r->generation;
    if (!r->config.timeout_ns)
        r->config.timeout_ns = 60 * NS_PER_S; /* no test hangs */
    run_open(r);
}

static void ask(struct run *r, struct asked *a, const char *prompt)
{
    *a = (struct asked){0};
    response_init(&a->response, RESPONSE_MAX);
    a->query = (struct client_query){.prompt = prompt,
                                     .prompt_len = strlen(prompt),
                                     .response = &a->response,
                                     .on_event = asked_event,
                                     .user = a};
    r->ops->start(r->ctx, &a->query);
}

/* Answers that are long, mostly. */
static void be_talkative(struct run *r)
{
    kv_add(&r->generation, "temperature", "100"); /* any character, END as seldom */
    kv_add(&r->generation, "max_tokens", "-1");
}

static void answers(void **state)
{
    struct run run = {.id = "pocket"};
    struct response *p;
    struct asked a;
    mono_ns before;

    (void)state;
    kv_add(&run.generation, "max_tokens", "8");
    ready(&run);
    before = mono_now();
    ask(&run, &a, "2+3=");
    run_finish(&run, &a);
    p = &a.response;
    assert_int_equal(p->failure, FAILURE_NONE);
    assert_string_equal(p->error, "");
    check_times(p);
    assert_true(p->sent >= before && p->end <= mono_now());
    assert_int_equal(p->usage.prompt_tokens, 4);
    assert_true(p->usage.completion_tokens >= 0 && p->usage.completion_tokens <= 8);
    assert_int_equal(p->deltas, p->usage.completion_tokens);
    assert_string_equal(p->finish_reason, p->usage.completion_tokens == 8 ? "length" : "stop");
    assert_int_equal(p->timings.load_ns, -1);
    assert_true(p->timings.queue_ns <= p->headers - p->sent); /* counted from a little later */
    assert_true(p->timings.queue_ns >= 0 && p->timings.prefill_ns > 0 && p->timings.decode_ns >= 0);
    if (p->deltas > 0)
        assert_int_equal(p->first_token, p->headers + p->timings.prefill_ns);
    assert_int_equal(p->http_status, 0);
    assert_int_equal(a.events[CLIENT_SENT], 1);
    assert_int_equal(a.events[CLIENT_HEADERS], 1);
    asked_release(&a);
    run_close(&run);
}

static void knows_its_model(void **state)
{
    struct run run = {.id = "pocket"};
    struct model_list models = {0};
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    AUTO(json_doc) struct json_doc doc = {0};
    struct json_writer w = json_writer(&text, JSON_LINE);
    struct asked a;
    struct err err = {0};

    (void)state;
    run.config.model = "pocket:latest";
    kv_add(&run.params, "threads", "3");
    ready(&run);
    assert_null(run.ops->default_url);
    assert_ok(run.ops->models(run.ctx, &models, &err), &err);
    assert_int_equal(models.n, 1);
    assert_string_equal(models.names[0], "pocket");
    assert_ok(run.ops->prepare(run.ctx, NULL, NULL, &err), &err);
    jw_begin_object(&w, NULL);
    run.ops->describe(run.ctx, &w);
    jw_end_object(&w);
    assert_ok(json_doc_parse(&doc, text.data, text.len, &err), &err);
    assert_int_equal(json_int(json_get(doc.root, "threads"), 0), 3);
    assert_true(json_int(json_get(doc.root, "model_parameters"), 0) > 1000);
    assert_true(json_int(json_get(doc.root, "context_length"), 0) >= 16);
    ask(&run, &a, "x");
    assert_fails(run.ops->models(run.ctx, &models, &err), EBUSY, &err, "in flight");
    run_finish(&run, &a);
    asked_release(&a);
    model_list_release(&models);
    run_close(&run);

    run = (struct run){.id = "pocket"};
    run.config.model = "poket";
    ready(&run);
    assert_fails(run.ops->prepare(run.ctx, NULL, NULL, &err), ENOENT, &err,
                 "has no model 'poket': did you mean 'pocket'?");
    run_close(&run);
}

static void refuses(const char *kind, const char *key, const char *value, const char *words)
{
    const struct client_ops *ops = client_find("pocket", NULL);
    struct kv_list list = {0};
    struct client_config config = {.model = "pocket"};
    struct err err = {0};
    void *ctx = NULL;

    kv_add(&list, key, value);
    if (strcmp(kind, "params") == 0)
        config.params = &list;
    else if (strcmp(kind, "generation") == 0)
        config.generation = &list;
    else
        config.base_url = value;
    assert_fails(ops->open(&config, &ctx, &err), EINVAL, &err, words);
    assert_null(ctx);
    kv_list_release(&list);
}

static void refuses_what_it_does_not_know(void **state)
{
    char many[32];

    (void)state;
    snprintf(many, sizeof(many), "%d", pocket_threads_max() + 1);
    refuses("params", "thread", "2", "unknown client parameter 'thread': did you mean 'threads'?");
    refuses("params", "api_key", "2", "unknown client parameter 'api_key' (there are: threads)");
    refuses("params", "threads", "0", "client parameter threads: 0 is not within 1 and ");
    refuses("params", "threads", many, "is not within 1 and ");
    refuses("params", "threads", "two", "client parameter threads: ");
    refuses("generation", "temprature", "1",
            "unknown generation parameter 'temprature': did you mean 'temperature'?");
    refuses("generation", "logprobs", "1",
            "(there are: temperature, top_k, top_p, max_tokens, seed, stop)");
    refuses("generation", "temperature", "hot",
            "generation parameter temperature: a number from 0 to 100");
    refuses("base_url", "", "http://127.0.0.1:1", "has no address");
}

static void a_prompt_too_long_fails_in_words(void **state)
{
    struct run run = {.id = "pocket"};
    struct asked a, b;
    char prompt[5001];

    (void)state;
    memset(prompt, 'a', 5000);
    prompt[5000] = '\0';
    ready(&run);
    ask(&run, &a, prompt);
    run_finish(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_STATUS);
    assert_contains(a.response.error, "the prompt has 5000 tokens (characters), but the context");
    assert_true(a.response.sent > 0 && a.response.end >= a.response.sent);
    assert_int_equal(a.response.headers, MONO_ABSENT);
    assert_int_equal(a.response.usage.prompt_tokens, -1);
    assert_int_equal(a.events[CLIENT_HEADERS], 0);
    ask(&run, &b, "x"); /* the client goes on */
    run_finish(&run, &b);
    assert_int_equal(b.response.failure, FAILURE_NONE);
    asked_release(&a);
    asked_release(&b);
    run_close(&run);
}

/* Many at once on a few threads, the same as one after the other. */
static void several_at_once(void **state)
{
    enum { QUERIES = 30 };
    static struct asked one[QUERIES], many[QUERIES];
    struct run serial = {.id = "pocket"}, parallel = {.id = "pocket"};
    char prompts[QUERIES][16];
    struct err err = {0};

    (void)state;
    kv_add(&serial.generation, "temperature", "1.5");
    kv_add(&parallel.generation, "temperature", "1.5");
    kv_add(&parallel.params, "threads", "4");
    ready(&serial);
    ready(&parallel);
    for (int i = 0; i < QUERIES; i++) {
        snprintf(prompts[i], sizeof(prompts[i]), "q%d?", i);
        ask(&serial, &one[i], prompts[i]);
        run_finish(&serial, &one[i]);
    }
    for (int i = 0; i < QUERIES; i++)
        ask(&parallel, &many[i], prompts[i]);
    for (int i = 0; i < QUERIES; i++)
        run_finish(&parallel, &many[i]);
    assert_fails(parallel.ops->poll(parallel.ctx, MONO_NEVER, -1, &err), EDEADLK, &err, "nothing");
    for (int i = 0; i < QUERIES; i++) {
        assert_int_equal(many[i].response.failure, FAILURE_NONE);
        assert_string_equal(buf_str(&one[i].response.answer), buf_str(&many[i].response.answer));
        check_times(&many[i].response);
        asked_release(&one[i]);
        asked_release(&many[i]);
    }
    run_close(&serial);
    run_close(&parallel);
}

static void cancels(void **state)
{
    struct run run = {.id = "pocket"};
    struct asked a, b;
    struct err err = {0};

    (void)state;
    be_talkative(&run);
    ready(&run);
    ask(&run, &a, "x");
    ask(&run, &b, "y"); /* waits for the only thread */
    run.ops->cancel(run.ctx, &b.query);
    run_finish(&run, &b);
    assert_int_equal(b.response.failure, FAILURE_CANCELLED);
    assert_string_equal(b.response.error, "cancelled");
    while (a.events[CLIENT_HEADERS] == 0)
        assert_ok(run.ops->poll(run.ctx, MONO_NEVER, -1, &err), &err);
    if (a.events[CLIENT_END] == 0) {
        run.ops->cancel(run.ctx, &a.query);
        run.ops->cancel(run.ctx, &a.query);
        run_finish(&run, &a);
        assert_int_equal(a.response.failure, FAILURE_CANCELLED);
        assert_true(a.response.end >= a.response.headers);
    }
    run.ops->cancel(run.ctx, &a.query); /* over: no harm */
    asked_release(&a);
    asked_release(&b);
    run_close(&run);
}

static void closing_ends_queries(void **state)
{
    struct run run = {.id = "pocket"};
    struct asked a, b;

    (void)state;
    be_talkative(&run);
    ready(&run);
    ask(&run, &a, "x");
    ask(&run, &b, "y");
    run_close(&run);
    assert_int_equal(a.events[CLIENT_END], 1);
    assert_int_equal(b.events[CLIENT_END], 1);
    assert_int_equal(a.response.failure, FAILURE_CANCELLED);
    assert_int_equal(b.response.failure, FAILURE_CANCELLED);
    asked_release(&a);
    asked_release(&b);
    run.ops->close(NULL);
}

static void times_out(void **state)
{
    struct run run = {.id = "pocket", .config.timeout_ns = 1};
    struct asked a, b;

    (void)state;
    be_talkative(&run);
    ready(&run);
    ask(&run, &a, "x");
    ask(&run, &b, "y");
    run_finish(&run, &a);
    run_finish(&run, &b);
    assert_int_equal(a.response.failure, FAILURE_TIMEOUT);
    assert_int_equal(b.response.failure, FAILURE_TIMEOUT);
    assert_contains(b.response.error, "time limit");
    asked_release(&a);
    asked_release(&b);
    run_close(&run);
}

static void bounds_the_answer(void **state)
{
    static const char *const prompts[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    struct run run = {.id = "pocket", .config.max_response_bytes = 5};
    int too_large = 0;

    (void)state;
    be_talkative(&run);
    ready(&run);
    for (size_t i = 0; i < sizeof(prompts) / sizeof(prompts[0]); i++) {
        struct asked a;

        ask(&run, &a, prompts[i]);
        run_finish(&run, &a);
        too_large += a.response.failure == FAILURE_TOO_LARGE;
        assert_true(a.response.answer.len <= 5);
        asked_release(&a);
    }
    assert_true(too_large > 0); /* else the model has become taciturn */
    run_close(&run);
}

static void waits_as_told(void **state)
{
    struct run run = {.id = "pocket"};
    int wake = eventfd(0, EFD_CLOEXEC);
    struct err err = {0};
    mono_ns at;

    (void)state;
    ready(&run);
    assert_fails(run.ops->poll(run.ctx, MONO_NEVER, -1, &err), EDEADLK, &err, "nothing");
    at = mono_now() + 5 * NS_PER_MS;
    assert_int_equal(run.ops->poll(run.ctx, at, -1, &err), 0);
    assert_true(mono_now() >= at);
    assert_int_equal(run.ops->poll(run.ctx, 0, -1, &err), 0); /* passed long ago */
    eventfd_write(wake, 1);
    assert_int_equal(run.ops->poll(run.ctx, MONO_NEVER, wake, &err), 0);
    run_close(&run);
    close(wake);
}

/* A handler that asks again and cancels from inside an event. */
struct chain {
    struct asked asked[4];
    struct run *run;
    int n;
};

static void on_chain(struct client_query *q, enum client_event e)
{
    struct chain *c = q->user;

    if (e == CLIENT_HEADERS && c->n == 3)
        c->run->ops->cancel(c->run->ctx, q);
    if (e != CLIENT_END)
        return;
    c->asked[c->n].events[CLIENT_END]++;
    if (++c->n < 4) {
        struct asked *a = &c->asked[c->n];

        response_init(&a->response, RESPONSE_MAX);
        a->query = (struct client_query){.prompt = "x",
                                         .prompt_len = 1,
                                         .response = &a->response,
                                         .on_event = on_chain,
                                         .user = c};
        c->run->ops->start(c->run->ctx, &a->query);
    }
}

static void handlers_may_start_and_cancel(void **state)
{
    struct run run = {.id = "pocket"};
    struct chain c = {.run = &run};
    struct err err = {0};

    (void)state;
    be_talkative(&run);
    ready(&run);
    response_init(&c.asked[0].response, RESPONSE_MAX);
    c.asked[0].query = (struct client_query){.prompt = "x",
                                             .prompt_len = 1,
                                             .response = &c.asked[0].response,
                                             .on_event = on_chain,
                                             .user = &c};
    run.ops->start(run.ctx, &c.asked[0].query);
    while (c.n < 4)
        assert_ok(run.ops->poll(run.ctx, MONO_NEVER, -1, &err), &err);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(c.asked[i].events[CLIENT_END], 1);
        assert_int_equal(c.asked[i].response.failure, i < 3 ? FAILURE_NONE : FAILURE_CANCELLED);
        asked_release(&c.asked[i]);
    }
    run_close(&run);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers),
    cmocka_unit_test(knows_its_model),
    cmocka_unit_test(refuses_what_it_does_not_know),
    cmocka_unit_test(a_prompt_too_long_fails_in_words),
    cmocka_unit_test(several_at_once),
    cmocka_unit_test(cancels),
    cmocka_unit_test(closing_ends_queries),
    cmocka_unit_test(times_out),
    cmocka_unit_test(bounds_the_answer),
    cmocka_unit_test(waits_as_told),
    cmocka_unit_test(handlers_may_start_and_cancel),
};

int main(void)
{
    return cmocka_run_group_tests(tests, run_clean_environment, NULL);
}
