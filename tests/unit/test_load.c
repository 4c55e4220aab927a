/* Questions and queries: what is asked, in which order, how often, and what comes back. The client
 * is one of our own that does what the test wants. */
#include "harness.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "run/deck.h"
#include "run/load.h"

#include <errno.h>

/* ---- a client that answers by script ---- */

struct puppet {
    struct client_query *flying[64];
    size_t n;
    size_t peak;
    int calls;
    int fail_first;       /* so many calls fail ... */
    enum failure failure; /* ... like this */
    int http_status;
    int64_t retry_after_ns;
    bool never_sent;
    bool hold;  /* nothing ends */
    int broken; /* poll returns this */
};

static void puppet_start(void *ctx, struct client_query *q)
{
    struct puppet *p = ctx;

    p->flying[p->n++] = q;
    p->peak = p->n > p->peak ? p->n : p->peak;
}

static void puppet_end(struct puppet *p, struct client_query *q, enum failure f)
{
    struct response *r = q->response;

    if (!p->never_sent) {
        r->sent = mono_now();
        q->on_event(q, CLIENT_SENT);
    }
    r->failure = f;
    r->http_status = p->http_status;
    r->retry_after_ns = f ? p->retry_after_ns : -1;
    if (!f) {
        response_delta(r, DELTA_ANSWER, q->prompt, q->prompt_len, mono_now());
        q->on_event(q, CLIENT_DELTA);
    }
    r->end = mono_now();
    q->on_event(q, CLIENT_END);
}

static int puppet_poll(void *ctx, mono_ns deadline, int wake_fd, struct err *err)
{
    struct puppet *p = ctx;
    int events = 0;

    (void)wake_fd;
    if (p->broken)
        return err_set(err, -p->broken, "broken");
    while (p->n > 0 && !p->hold) {
        struct client_query *q = p->flying[0];

        memmove(p->flying, p->flying + 1, --p->n * sizeof(*p->flying));
        puppet_end(p, q, p->calls++ < p->fail_first ? p->failure : FAILURE_NONE);
        events++;
    }
    if (!events && deadline > mono_now())
        mono_sleep_until(deadline < mono_now() + NS_PER_MS ? deadline : mono_now() + NS_PER_MS);
    return events;
}

static void puppet_cancel(void *ctx, struct client_query *q)
{
    struct puppet *p = ctx;

    for (size_t i = 0; i < p->n; i++) {
        if (p->flying[i] != q)
            continue;
        memmove(p->flying + i, p->flying + i + 1, (--p->n - i) * sizeof(*p->flying));
        q->response->failure = FAILURE_CANCELLED;
        q->response->end = mono_now();
        q->on_event(q, CLIENT_END);
        return;
    }
}

static const struct client_ops puppet_ops = {
    .start = puppet_start, .poll = puppet_poll, .cancel = puppet_cancel};

/* ---- a run of it ---- */

struct setup {
    struct puppet puppet;
    struct dataset *dataset;
    struct deck deck;
    struct load_options options;
    struct load *load;
    char answers[256]; /* problems answered, in order */
    int64_t ok, failed, cancelled, attempts;
};

static void setup_open(struct setup *s, const char *rows, int64_t limit, bool again)
{
    char dir[64], path[96];
    FILE *f;
    struct err err = {0};

    make_temp_dir(dir);
    snprintf(path, sizeof(path), "%s/d.jsonl", dir);
    f = fopen(path, "w");
    for (const char *p = rows; *p; p++)
        fprintf(f, "{\"problem\": \"%c\", \"answer\": \"x\", \"level\": %d}\n", *p, *p);
    fclose(f);
    assert_ok(dataset_open(path, NULL, 0, &s->dataset, &err), &err);
    unlink(path);
    rmdir(dir);
    s->deck = (struct deck){.dataset = s->dataset, .limit = limit, .again = again};
    s->options = (struct load_options){.client = &puppet_ops,
                                       .ctx = &s->puppet,
                                       .deck = &s->deck,
                                       .schedule = {.concurrency = 1,
                                                    .total = again ? limit : deck_total(&s->deck),
                                                    .start = mono_now()}};
    s->puppet.retry_after_ns = -1;
}

static int setup_run(struct setup *s, struct err *err)
{
    struct query *q;
    int r = 0;

    if (!s->load)
        assert_ok(load_open(&s->options, &s->load, err), err);
    while (r == 0 && !load_finished(s->load)) {
        r = load_step(s->load, mono_now() + NS_PER_MS, -1, err);
        while ((q = load_take(s->load))) {
            enum failure f = q->response.failure;

            s->ok += f == FAILURE_NONE;
            s->cancelled += f == FAILURE_CANCELLED;
            s->failed += f != FAILURE_NONE && f != FAILURE_CANCELLED;
            s->attempts += q->attempts;
            strncat(s->answers, q->question->item.problem,
                    sizeof(s->answers) - 1 - strlen(s->answers));
            query_free(q);
        }
    }
    return r;
}

static void setup_close(struct setup *s)
{
    load_close(s->load);
    deck_release(&s->deck);
    dataset_free(s->dataset);
}

static void asks_in_order_and_once(void **state)
{
    struct setup s = {0};
    struct err err = {0};

    (void)state;
    setup_open(&s, "abcdef", -1, false);
    assert_ok(setup_run(&s, &err), &err);
    assert_string_equal(s.answers, "abcdef");
    assert_int_equal(s.attempts, 6);
    assert_int_equal(load_state(s.load).in_flight, 0);
    setup_close(&s);
}

static void limit_skip_and_again(void **state)
{
    struct setup s = {0}, t = {0};
    struct err err = {0};

    (void)state;
    setup_open(&s, "abcdef", 4, false);
    assert_int_equal(deck_total(&s.deck), 4);
    deck_skip(&s.deck, 1);
    deck_skip(&s.deck, 1);
    deck_skip(&s.deck, 3);
    deck_skip(&s.deck, -1);
    assert_int_equal(s.deck.n_skipped, 2);
    assert_ok(setup_run(&s, &err), &err);
    assert_string_equal(s.answers, "ac");
    setup_close(&s);

    setup_open(&t, "abc", 8, true);
    assert_int_equal(deck_total(&t.deck), 8);
    assert_ok(setup_run(&t, &err), &err);
    assert_string_equal(t.answers, "abcabcab");
    setup_close(&t);
}

static void question_outlives_the_dataset(void **state)
{
    struct setup s = {0};
    struct question *a = NULL, *b = NULL;
    struct err err = {0};

    (void)state;
    setup_open(&s, "ab", -1, false);
    assert_int_equal(deck_next(&s.deck, &a, &err), 1);
    assert_int_equal(deck_next(&s.deck, &b, &err), 1);
    setup_close(&s);
    assert_string_equal(a->item.problem, "a");
    assert_int_equal(json_int(json_get(a->item.metadata, "level"), 0), 'a');
    assert_int_equal(json_int(json_get(b->item.metadata, "level"), 0), 'b');
    question_free(a);
    question_free(b);
    question_free(NULL);
}

static void keeps_so_many_in_flight(void **state)
{
    struct setup s = {0};
    struct err err = {0};

    (void)state;
    setup_open(&s, "abcdefghij", -1, false);
    s.options.schedule.concurrency = 3;
    assert_ok(setup_run(&s, &err), &err);
    assert_int_equal(s.puppet.peak, 3);
    assert_int_equal(s.ok, 10);
    setup_close(&s);
}

static void passing_failures_are_tried_again(void **state)
{
    static const struct {
        enum failure failure;
        int status;
        bool again;
    } cases[] = {
        {FAILURE_CONNECT, 0, true},   {FAILURE_STATUS, 429, true}, {FAILURE_STATUS, 503, true},
        {FAILURE_STATUS, 400, false}, {FAILURE_CUT, 0, true},      {FAILURE_STALL, 0, true},
        {FAILURE_GARBAGE, 0, false},  {FAILURE_TIMEOUT, 0, false}, {FAILURE_TOO_LARGE, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct setup s = {0};
        struct err err = {0};

        setup_open(&s, "a", -1, false);
        s.puppet.fail_first = 2;
        s.puppet.failure = cases[i].failure;
        s.puppet.http_status = cases[i].status;
        s.puppet.retry_after_ns = 1000; /* the server names a short wait */
        s.puppet.never_sent = cases[i].failure == FAILURE_CONNECT;
        s.options.retries = 2;
        assert_ok(setup_run(&s, &err), &err);
        assert_int_equal(s.attempts, cases[i].again ? 3 : 1);
        assert_int_equal(s.ok, cases[i].again);
        assert_int_equal(load_state(s.load).retried, cases[i].again ? 2 : 0);
        setup_close(&s);
    }
}

static void waits_before_it_tries_again(void **state)
{
    struct setup s = {0};
    struct err err = {0};
    mono_ns start = mono_now();

    (void)state;
    setup_open(&s, "a", -1, false);
    s.puppet.fail_first = 1;
    s.puppet.failure = FAILURE_STATUS;
    s.puppet.http_status = 429;
    s.puppet.retry_after_ns = 300 * NS_PER_MS;
    s.options.retries = 1;
    assert_ok(setup_run(&s, &err), &err);
    assert_true(mono_now() - start >= 300 * NS_PER_MS);
    setup_close(&s);
    start = mono_now(); /* and half a second where the server names none */
    memset(&s, 0, sizeof(s));
    setup_open(&s, "a", -1, false);
    s.puppet.fail_first = 1;
    s.puppet.failure = FAILURE_CUT;
    s.options.retries = 1;
    assert_ok(setup_run(&s, &err), &err);
    assert_true(mono_now() - start >= 500 * NS_PER_MS);
    setup_close(&s);
}

static void gives_up_after_failures_in_a_row(void **state)
{
    struct setup s = {0}, t = {0};
    struct err err = {0};

    (void)state;
    setup_open(&s, "abcdefghij", -1, false);
    s.puppet.fail_first = 100;
    s.puppet.failure = FAILURE_STATUS;
    s.options.failures_max = 4;
    assert_ok(setup_run(&s, &err), &err);
    assert_int_equal(s.failed, 4);
    assert_true(load_state(s.load).gave_up);
    setup_close(&s);

    setup_open(&t, "abcdefghij", -1, false); /* three are not four in a row */
    t.puppet.fail_first = 3;
    t.puppet.failure = FAILURE_STATUS;
    t.options.failures_max = 4;
    assert_ok(setup_run(&t, &err), &err);
    assert_int_equal(t.failed, 3);
    assert_int_equal(t.ok, 7);
    assert_false(load_state(t.load).gave_up);
    setup_close(&t);
}

static void stop_cancels_what_flies_and_what_waits(void **state)
{
    struct setup s = {0};
    struct err err = {0};

    (void)state;
    setup_open(&s, "abcdef", -1, false);
    s.options.schedule.concurrency = 3;
    s.options.retries = 5;
    s.puppet.fail_first = 1;
    s.puppet.failure = FAILURE_CUT;
    assert_ok(load_open(&s.options, &s.load, &err), &err);
    s.puppet.hold = true;
    assert_ok(load_step(s.load, mono_now(), -1, &err), &err);
    assert_int_equal(load_state(s.load).in_flight, 3);
    puppet_end(&s.puppet, s.puppet.flying[0], FAILURE_CUT); /* now waits to be sent again */
    memmove(s.puppet.flying, s.puppet.flying + 1, --s.puppet.n * sizeof(*s.puppet.flying));
    assert_ok(load_step(s.load, mono_now(), -1, &err), &err);
    load_stop(s.load);
    load_stop(s.load);
    assert_ok(setup_run(&s, &err), &err);
    assert_int_equal(s.cancelled, 3);
    assert_int_equal(s.ok + s.failed, 0);
    setup_close(&s);
}

static void safe_is_before_whatever_was_not_sent(void **state)
{
    struct setup s = {0};
    struct err err = {0};
    mono_ns before = mono_now();

    (void)state;
    setup_open(&s, "ab", -1, false);
    s.puppet.hold = true;
    assert_ok(load_open(&s.options, &s.load, &err), &err);
    for (int i = 0; i < 3; i++)
        assert_ok(load_step(s.load, mono_now() + NS_PER_MS, -1, &err), &err);
    assert_true(load_safe(s.load) >= before);
    assert_true(load_safe(s.load) < mono_now() - NS_PER_MS); /* its start holds it up */
    s.puppet.hold = false;
    assert_ok(setup_run(&s, &err), &err);
    setup_close(&s);
}

static void a_broken_client_ends_it(void **state)
{
    struct setup s = {0};
    struct err err = {0};

    (void)state;
    setup_open(&s, "ab", -1, false);
    s.puppet.broken = -EIO;
    assert_int_equal(setup_run(&s, &err), -EIO);
    assert_string_equal(err.text, "broken");
    setup_close(&s); /* what is in flight is freed: the client is gone */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(asks_in_order_and_once),
    cmocka_unit_test(limit_skip_and_again),
    cmocka_unit_test(question_outlives_the_dataset),
    cmocka_unit_test(keeps_so_many_in_flight),
    cmocka_unit_test(passing_failures_are_tried_again),
    cmocka_unit_test(waits_before_it_tries_again),
    cmocka_unit_test(gives_up_after_failures_in_a_row),
    cmocka_unit_test(stop_cancels_what_flies_and_what_waits),
    cmocka_unit_test(safe_is_before_whatever_was_not_sent),
    cmocka_unit_test(a_broken_client_ends_it),
};
TEST_MAIN(tests)
