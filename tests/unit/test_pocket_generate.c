/*
 * One answer of the embedded model: which token is chosen, where the answer stops, what is refused.
 */
#include "support/pocketmodel.h"

#include "base/cleanup.h"
#include "client/pocket/choose.h"
#include "client/pocket/generate.h"

#include <errno.h>

#define N 8

/* Tokens 0 and 1 are BEGIN and ANSWER. */
static const float logits[N] = {9, 9, -1, 0, 2, 1, 2, -3};

static int pick_once(double temperature, int top_k, double top_p, uint64_t seed, const float *l)
{
    struct chooser c;
    int token;

    chooser_init(&c, N, temperature, top_k, top_p, seed);
    token = chooser_pick(&c, l);
    chooser_release(&c);
    return token;
}

static void greedy_takes_the_most_likely(void **state)
{
    float odd[N] = {NAN, 1, -INFINITY, NAN, NAN, -5, NAN, -5};
    float none[N] = {1, 1, NAN, NAN, NAN, NAN, NAN, NAN};

    (void)state;
    assert_int_equal(pick_once(0, 0, 1, 7, logits), 4); /* the first of equals, no mark */
    assert_int_equal(pick_once(0, 0, 1, 7, odd), 5);
    assert_int_equal(pick_once(0, 0, 1, 7, none), POCKET_END);
    assert_int_equal(pick_once(1, 0, 1, 7, none), POCKET_END);
    assert_int_equal(pick_once(1, 1, 1, 7, logits), 4); /* top_k 1 is greedy */
    assert_int_equal(pick_once(1, 0, 1e-9, 7, logits), 4);
    assert_int_equal(pick_once(1e-300, 1, 1, 7, logits), 4);
}

/* How often each token comes, of `draws`. */
static void count(double temperature, int top_k, double top_p, int draws, int ret[N])
{
    struct chooser c;

    memset(ret, 0, N * sizeof(*ret));
    chooser_init(&c, N, temperature, top_k, top_p, 3);
    for (int i = 0; i < draws; i++)
        ret[chooser_pick(&c, logits)]++;
    chooser_release(&c);
}

static void draws_in_proportion(void **state)
{
    double sum = 0;
    int n[N];

    (void)state;
    for (int i = 2; i < N; i++)
        sum += exp((double)logits[i] / 2);
    count(2, 0, 1, 20000, n);
    assert_int_equal(n[POCKET_BEGIN] + n[POCKET_ANSWER], 0);
    for (int i = 2; i < N; i++)
        assert_near(n[i] / 20000.0, exp((double)logits[i] / 2) / sum, 0.015);
    count(2, 2, 1, 20000, n); /* the two best are equal */
    assert_int_equal(n[4] + n[6], 20000);
    assert_near(n[4] / 20000.0, 0.5, 0.015);
    count(2, 3, 1, 20000, n);
    assert_int_equal(n[4] + n[6] + n[5], 20000);
    assert_true(n[5] > 0);
    /* at temperature 1 the first two hold 0.8 of the whole: the nucleus of 0.75 is these */
    count(1, 0, 0.75, 20000, n);
    assert_int_equal(n[4] + n[6], 20000);
    count(1, 0, 0.9, 20000, n);
    assert_int_equal(n[4] + n[6] + n[5], 20000);
    assert_true(n[5] > 0);
}

static void infinite_logits_are_drawn(void **state)
{
    float inf[N] = {0, 0, 0, INFINITY, 1, INFINITY, -INFINITY, 0};
    float low[N] = {0, 0, NAN, NAN, -INFINITY, -INFINITY, NAN, NAN};

    (void)state;
    for (uint64_t seed = 0; seed < 50; seed++) {
        int token = pick_once(1, 0, 1, seed, inf);

        assert_true(token == 3 || token == 5);
        token = pick_once(1, 0, 1, seed, low);
        assert_true(token == 4 || token == 5);
    }
}

/* What was given out: "text@time " pieces. */
static void give(void *arg, const char *text, size_t n, mono_ns at)
{
    buf_addf(arg, "%.*s@%lld ", (int)n, text, (long long)at);
}

/* Feeds the pieces, at times 1, 2, ...; NULL ends them. Returns how many were taken. */
static int feed(const char *const *stops, const char *const *pieces, struct buf *ret)
{
    struct stop_string list[STOPS_MAX];
    struct stops s;
    size_t n = 0;
    int taken = 0;
    bool found = false;

    buf_clear(ret);
    for (; stops[n]; n++) {
        list[n].n = strlen(stops[n]);
        memcpy(list[n].text, stops[n], list[n].n);
    }
    stops_init(&s, list, n, give, ret);
    while (!found && pieces[taken]) {
        found = stops_feed(&s, pieces[taken], strlen(pieces[taken]), taken + 1);
        taken++;
    }
    if (!found)
        stops_end(&s);
    stops_release(&s);
    return found ? taken : -1;
}

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static void stops_at_strings_split_over_pieces(void **state)
{
    AUTO(buf) struct buf got = BUF_INIT(1 << 16);
    const char *const none[] = {NULL};

    (void)state;
    assert_int_equal(feed(none, LIST("a", "", "b"), &got), -1);
    assert_string_equal(buf_str(&got), "a@1 b@3 ");
    assert_int_equal(feed(LIST("END"), LIST("a", "E", "N", "D", "x"), &got), 4);
    assert_string_equal(buf_str(&got), "a@1 ");
    /* what looked like a stop and was none comes late, with its own times */
    assert_int_equal(feed(LIST("END"), LIST("E", "N", "E", "N", "x"), &got), -1);
    assert_string_equal(buf_str(&got), "E@1 N@2 E@3 N@4 x@5 ");
    assert_int_equal(feed(LIST("END"), LIST("a", "EN"), &got), -1);
    assert_string_equal(buf_str(&got), "a@1 EN@2 ");
    assert_int_equal(feed(LIST("aab"), LIST("a", "a", "a", "b"), &got), 4);
    assert_string_equal(buf_str(&got), "a@1 ");
    /* in the middle of a piece */
    assert_int_equal(feed(LIST("\n\n"), LIST("one\n", "\ntwo"), &got), 2);
    assert_string_equal(buf_str(&got), "one@1 ");
    assert_int_equal(feed(LIST("xy", "b"), LIST("ax", "b"), &got), 2);
    assert_string_equal(buf_str(&got), "a@1 x@1 ");
    /* of several the first */
    assert_int_equal(feed(LIST("cd", "bc"), LIST("abcd"), &got), 1);
    assert_string_equal(buf_str(&got), "a@1 ");
    assert_int_equal(feed(LIST("a"), LIST("a"), &got), 1);
    assert_string_equal(buf_str(&got), "");
}

static int set(struct pocket_options *o, const char *name, const char *json, struct err *err)
{
    AUTO(json_doc) struct json_doc doc = {0};

    *err = (struct err){0};
    assert_ok(json_doc_parse(&doc, json, strlen(json), err), err);
    return pocket_options_set(o, name, doc.root, err);
}

static void options_are_read(void **state)
{
    struct pocket_options o = POCKET_OPTIONS_DEFAULT;
    struct err err;

    (void)state;
    assert_true(o.temperature == 0 && o.top_k == 0 && o.top_p == 1 && o.max_tokens == 64);
    assert_true(o.seed == 0 && o.n_stops == 0);
    assert_ok(set(&o, "temperature", "0.7", &err), &err);
    assert_ok(set(&o, "top_k", "40", &err), &err);
    assert_ok(set(&o, "top_p", "0.95", &err), &err);
    assert_ok(set(&o, "max_tokens", "5", &err), &err);
    assert_ok(set(&o, "seed", "-3", &err), &err);
    assert_ok(set(&o, "stop", "\"ab\"", &err), &err);
    assert_ok(set(&o, "temperature", "null", &err), &err);
    assert_true(o.temperature == 0.7 && o.top_k == 40 && o.top_p == 0.95 && o.max_tokens == 5);
    assert_true(o.seed == (uint64_t)-3 && o.n_stops == 1 && o.stops[0].n == 2);
    assert_memory_equal(o.stops[0].text, "ab", 2);
    assert_ok(set(&o, "stop", "[\"x\", \"\\u0000y\"]", &err), &err);
    assert_int_equal(o.n_stops, 2);
    assert_memory_equal(o.stops[1].text, "\0y", 2);
    assert_ok(set(&o, "stop", "[]", &err), &err);
    assert_int_equal(o.n_stops, 0);
    assert_ok(set(&o, "top_k", "-1", &err), &err);
    assert_int_equal(o.top_k, 0);
    assert_ok(set(&o, "top_k", "9000000000", &err), &err);
    assert_true(o.top_k > 1000000);
    assert_ok(set(&o, "max_tokens", "-1", &err), &err);
    assert_int_equal(o.max_tokens, -1);
    assert_ok(set(&o, "max_tokens", "7.0", &err), &err);
    assert_int_equal(o.max_tokens, 7);
}

static void options_are_refused(void **state)
{
    static const char *const bad[][3] = {
        {"temperature", "-0.1", "a number from 0 to 100 is expected"},
        {"temperature", "\"hot\"", "a number from 0"},
        {"temperature", "1e300", "a number from 0"},
        {"top_k", "-2", "a whole number from 0"},
        {"top_k", "1.5", "a whole number from 0"},
        {"top_p", "0", "a number above 0"},
        {"top_p", "1.01", "a number above 0"},
        {"max_tokens", "0", "a whole number from 1"},
        {"max_tokens", "-2", "a whole number from 1"},
        {"max_tokens", "true", "a whole number from 1"},
        {"seed", "1.5", "a whole number"},
        {"stop", "\"\"", "a text that is not empty"},
        {"stop", "3", "a text that is not empty"},
        {"stop", "[\"a\", 3]", "a text that is not empty"},
        {"stop", "[\"1\",\"2\",\"3\",\"4\",\"5\",\"6\",\"7\",\"8\",\"9\"]", "more than 8"},
        {"stop", "\"1234567890123456789012345678901234567890123456789012345678901234X\"",
         "longer than 64"},
    };
    struct pocket_options o = POCKET_OPTIONS_DEFAULT;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_fails(set(&o, bad[i][0], bad[i][1], &err), EINVAL, &err, bad[i][2]);
    assert_int_equal(set(&o, "temprature", "1", &err), -ENOENT);
    assert_int_equal(set(&o, "", "1", &err), -ENOENT);
}

/* A generation under test. */
struct made {
    struct buf text;
    struct pocket_outcome outcome;
    int pieces;
    mono_ns last;
    int cancel_after; /* pieces; 0 = never */
    atomic_bool cancelled;
};

static void keep(void *arg, const char *text, size_t n, mono_ns at)
{
    struct made *m = arg;

    assert_true(n > 0 && at >= m->last);
    m->last = at;
    buf_add(&m->text, text, n);
    if (++m->pieces == m->cancel_after)
        atomic_store(&m->cancelled, true);
}

static int make(const struct pocketmodel *p, struct pocket_state *s, const char *prompt,
                const struct pocket_options *o, struct made *m)
{
    struct pocket_prompt tokens;
    struct err err = {0};
    int r;

    buf_init(&m->text, 1 << 16);
    assert_ok(pocket_prompt_encode(p->model, prompt, strlen(prompt), &tokens, &err), &err);
    r = pocket_generate(p->model, s, &tokens, o, &m->cancelled, keep, m, &m->outcome);
    pocket_prompt_release(&tokens);
    return r;
}

static struct pocketmodel small;
static struct pocket_state *small_state;

static int teardown(void **state)
{
    (void)state;
    pocket_state_free(small_state);
    pocketmodel_release(&small);
    return 0;
}

/* A long answer: sampled hot, so that it has many different characters, with a seed that does not
 * end it before its length. */
static struct pocket_options hot = {.temperature = 3, .top_p = 1, .max_tokens = 20};

static int setup(void **state)
{
    static const char *const prompts[] = {"x", "2+2="};
    int64_t shortest = 0;

    (void)state;
    small = pocketmodel_make(64);
    small_state = pocket_state_new(small.model);
    for (hot.seed = 0; shortest < hot.max_tokens; hot.seed++) {
        shortest = hot.max_tokens;
        for (size_t i = 0; i < 2; i++) {
            struct made m = {0};

            assert_int_equal(make(&small, small_state, prompts[i], &hot, &m), 0);
            if (m.outcome.completion_tokens < shortest || m.text.len != 20) /* ASCII only */
                shortest = 0;
            buf_release(&m.text);
        }
    }
    hot.seed--;
    return 0;
}

static void lengths_are_kept(void **state)
{
    struct pocket_options o = hot;
    struct made full = {0}, part = {0};
    mono_ns before = mono_now();

    (void)state;
    assert_int_equal(make(&small, small_state, "2+2=", &o, &full), 0);
    assert_int_equal(full.outcome.finish, POCKET_FINISH_LENGTH);
    assert_int_equal(full.outcome.prompt_tokens, 4);
    assert_int_equal(full.outcome.completion_tokens, 20);
    assert_int_equal(full.pieces, 20); /* one a token */
    assert_int_equal(full.last, full.outcome.end);
    assert_true(before <= full.outcome.first && full.outcome.first <= full.outcome.end &&
                full.outcome.end <= mono_now());
    o.max_tokens = 7;
    assert_int_equal(make(&small, small_state, "2+2=", &o, &part), 0);
    assert_int_equal(part.outcome.completion_tokens, 7);
    assert_memory_equal(part.text.data, full.text.data, part.text.len);
    buf_release(&full.text);
    buf_release(&part.text);
}

/* Without a limit an answer ends where the model says, or where the context is full: 64 tokens, of
 * which 6 are the prompt's, and the last one made is not fed. */
static void the_model_or_the_context_ends_it(void **state)
{
    struct pocket_options o = hot;
    int stopped = 0, full = 0;

    (void)state;
    o.max_tokens = -1;
    for (o.seed = 0; o.seed < 40; o.seed++) {
        struct made m = {0};

        assert_int_equal(make(&small, small_state, "2+2=", &o, &m), 0);
        assert_int_equal(m.pieces, m.outcome.completion_tokens);
        if (m.outcome.finish == POCKET_FINISH_STOP) {
            stopped++;
            assert_int_equal(pocket_state_length(small_state), 6 + m.outcome.completion_tokens);
            assert_true(m.outcome.end >= m.last);
        } else {
            full++;
            assert_int_equal(m.outcome.completion_tokens, 64 + 1 - 6);
            assert_int_equal(pocket_state_length(small_state), 64);
        }
        buf_release(&m.text);
    }
    assert_true(stopped > 0 && full > 0);
}

static void stops_in_the_text(void **state)
{
    struct pocket_options o = hot;
    struct made full = {0}, cut = {0};

    (void)state;
    assert_int_equal(make(&small, small_state, "x", &o, &full), 0);
    assert_int_equal(full.text.len, 20);
    o.n_stops = 1;
    o.stops[0].n = 4;
    memcpy(o.stops[0].text, full.text.data + 8, 4);
    assert_ptr_equal(memmem(full.text.data, 20, o.stops[0].text, 4), full.text.data + 8);
    assert_int_equal(make(&small, small_state, "x", &o, &cut), 0);
    assert_int_equal(cut.outcome.finish, POCKET_FINISH_STOP);
    assert_int_equal(cut.text.len, 8);
    assert_memory_equal(cut.text.data, full.text.data, 8);
    assert_int_equal(cut.outcome.completion_tokens, 12); /* four were made and swallowed */
    buf_release(&full.text);
    buf_release(&cut.text);
}

static void seeds_decide(void **state)
{
    struct pocket_options o = hot;
    struct made a = {0}, b = {0}, c = {0}, d = {0}, e = {0};

    (void)state;
    assert_int_equal(make(&small, small_state, "x", &o, &a), 0);
    assert_int_equal(make(&small, small_state, "x", &o, &b), 0);
    o.seed++;
    assert_int_equal(make(&small, small_state, "x", &o, &c), 0);
    assert_string_equal(buf_str(&a.text), buf_str(&b.text));
    assert_string_not_equal(buf_str(&a.text), buf_str(&c.text));
    o.temperature = 0;
    assert_int_equal(make(&small, small_state, "x", &o, &d), 0);
    o.seed++;
    assert_int_equal(make(&small, small_state, "x", &o, &e), 0);
    assert_string_equal(buf_str(&d.text), buf_str(&e.text));
    buf_release(&a.text);
    buf_release(&b.text);
    buf_release(&c.text);
    buf_release(&d.text);
    buf_release(&e.text);
}

static void cancels(void **state)
{
    struct made m = {.cancel_after = 3}, early = {.cancelled = true};

    (void)state;
    assert_int_equal(make(&small, small_state, "x", &hot, &m), -ECANCELED);
    assert_int_equal(m.pieces, 3);
    assert_int_equal(make(&small, small_state, "x", &hot, &early), -ECANCELED);
    assert_int_equal(early.pieces, 0);
    assert_int_equal(pocket_state_length(small_state), 0);
    buf_release(&m.text);
    buf_release(&early.text);
}

static void prompts_must_fit(void **state)
{
    struct pocket_prompt p = {0};
    struct err err = {0};
    struct made m = {0};
    char text[64];

    (void)state;
    memset(text, 'a', sizeof(text));
    assert_fails(pocket_prompt_encode(small.model, text, 63, &p, &err), E2BIG, &err,
                 "the prompt has 63 tokens (characters), but the context of the embedded model has "
                 "room for 62");
    assert_null(p.tokens);
    text[62] = '\0';
    assert_int_equal(make(&small, small_state, text, &hot, &m), 0);
    assert_int_equal(m.outcome.prompt_tokens, 62);
    assert_int_equal(m.outcome.completion_tokens, 1);
    assert_int_equal(m.outcome.finish, POCKET_FINISH_LENGTH);
    buf_release(&m.text);
    assert_ok(pocket_prompt_encode(small.model, "", 0, &p, &err), &err);
    assert_int_equal(p.n, 2);
    assert_true(p.tokens[0] == POCKET_BEGIN && p.tokens[1] == POCKET_ANSWER && p.n_text == 0);
    pocket_prompt_release(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(greedy_takes_the_most_likely),
    cmocka_unit_test(draws_in_proportion),
    cmocka_unit_test(infinite_logits_are_drawn),
    cmocka_unit_test(stops_at_strings_split_over_pieces),
    cmocka_unit_test(options_are_read),
    cmocka_unit_test(options_are_refused),
    cmocka_unit_test(lengths_are_kept),
    cmocka_unit_test(the_model_or_the_context_ends_it),
    cmocka_unit_test(stops_in_the_text),
    cmocka_unit_test(seeds_decide),
    cmocka_unit_test(cancels),
    cmocka_unit_test(prompts_must_fit),
};

int main(void)
{
    return cmocka_run_group_tests(tests, setup, teardown);
}
