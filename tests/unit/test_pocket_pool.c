/*
 * The pool: every job ends exactly once, whatever is cancelled when, and answers do not depend on
 * how many threads there are.
 */
#include "support/pocketmodel.h"

#include "client/pocket/pool.h"

#include <errno.h>
#include <pthread.h>

#define JOBS 40

static const struct pocket_options options = {
    .temperature = 3, .top_p = 1, .max_tokens = 30, .seed = 9};

struct watched {
    struct pocket_job job;
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t changed;
    struct buf text;
    int taken, ended;
    bool hold; /* the worker that takes it waits until this is false */
};

static void on_taken(struct pocket_job *j)
{
    struct watched *w = j->user;

    pthread_mutex_lock(&w->lock);
    w->taken++;
    pthread_cond_broadcast(&w->changed);
    while (w->hold)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void on_text(struct pocket_job *j, const char *text, size_t n, mono_ns at)
{
    struct watched *w = j->user;

    pthread_mutex_lock(&w->lock);
    assert_true(at >= j->taken);
    buf_add(&w->text, text, n);
    pthread_mutex_unlock(&w->lock);
}

static void on_ended(struct pocket_job *j)
{
    struct watched *w = j->user;

    pthread_mutex_lock(&w->lock);
    w->ended++;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static const struct pocket_handler handler = {on_taken, on_text, on_ended};

static void watched_init(struct watched *w, const struct pocket_model *m, const char *prompt)
{
    struct err err = {0};

    *w = (struct watched){
        .job = {.options = &options, .handler = &handler, .user = w},
        .text = BUF_INIT(1 << 16),
    };
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->changed, NULL);
    assert_ok(pocket_prompt_encode(m, prompt, strlen(prompt), &w->job.prompt, &err), &err);
}

static void watched_release(struct watched *w)
{
    pocket_prompt_release(&w->job.prompt);
    buf_release(&w->text);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->changed);
}

static void wait_taken(struct watched *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->taken == 0)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void wait_ended(struct watched *w)
{
    pthread_mutex_lock(&w->lock);
    while (w->ended == 0)
        pthread_cond_wait(&w->changed, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void let_go(struct watched *w)
{
    pthread_mutex_lock(&w->lock);
    w->hold = false;
    pthread_cond_broadcast(&w->changed);
    pthread_mutex_unlock(&w->lock);
}

static struct pocketmodel model;

static int setup(void **state)
{
    (void)state;
    model = pocketmodel_make(64);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pocketmodel_release(&model);
    return 0;
}

static struct pocket_pool *open_pool(int threads, size_t waiting_max)
{
    struct pocket_pool *p = NULL;
    struct err err = {0};

    assert_ok(pocket_pool_open(model.model, threads, waiting_max, &p, &err), &err);
    return p;
}

static void prompt_of(int i, char text[16])
{
    snprintf(text, 16, "question %d", i);
}

/* Every job's answer is the one that it gets alone. */
static void answers_do_not_depend_on_the_threads(void **state)
{
    static struct watched alone[JOBS], together[JOBS];
    struct pocket_pool *one = open_pool(1, SIZE_MAX), *four = open_pool(4, SIZE_MAX);
    int texts = 0;

    (void)state;
    for (int i = 0; i < JOBS; i++) {
        char prompt[16];

        prompt_of(i, prompt);
        watched_init(&alone[i], model.model, prompt);
        watched_init(&together[i], model.model, prompt);
        assert_int_equal(pocket_pool_submit(one, &alone[i].job), 0);
        assert_int_equal(pocket_pool_submit(four, &together[i].job), 0);
    }
    for (int i = 0; i < JOBS; i++) {
        wait_ended(&alone[i]);
        wait_ended(&together[i]);
        assert_int_equal(alone[i].job.result, 0);
        assert_int_equal(together[i].job.result, 0);
        assert_string_equal(buf_str(&alone[i].text), buf_str(&together[i].text));
        texts += together[i].text.len > 0;
        assert_true(together[i].job.submitted <= together[i].job.taken &&
                    together[i].job.taken <= together[i].job.outcome.first);
        if (i > 0) /* one worker takes them in their order */
            assert_true(alone[i].job.taken >= alone[i - 1].job.outcome.end);
    }
    assert_true(texts > JOBS / 2); /* an answer may be empty */
    pocket_pool_close(one);
    pocket_pool_close(four);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(alone[i].ended + together[i].ended, 2);
        assert_int_equal(alone[i].taken + together[i].taken, 2);
        watched_release(&alone[i]);
        watched_release(&together[i]);
    }
}

static void cancels_and_refuses(void **state)
{
    struct pocket_pool *p = open_pool(1, 2);
    struct watched w[4];

    (void)state;
    for (int i = 0; i < 4; i++)
        watched_init(&w[i], model.model, "x");
    w[0].hold = true;
    assert_int_equal(pocket_pool_submit(p, &w[0].job), 0);
    wait_taken(&w[0]); /* the only worker is busy now */
    assert_int_equal(pocket_pool_submit(p, &w[1].job), 0);
    assert_int_equal(pocket_pool_submit(p, &w[2].job), 0);
    assert_int_equal(pocket_pool_submit(p, &w[3].job), -EBUSY);
    assert_true(pocket_pool_cancel(p, &w[1].job)); /* it waited */
    assert_int_equal(pocket_pool_submit(p, &w[3].job), 0);
    assert_false(pocket_pool_cancel(p, &w[0].job)); /* it runs */
    let_go(&w[0]);
    wait_ended(&w[0]);
    assert_int_equal(w[0].job.result, -ECANCELED);
    assert_int_equal(w[0].text.len, 0);
    wait_ended(&w[2]);
    wait_ended(&w[3]);
    assert_int_equal(w[2].job.result, 0);
    assert_false(pocket_pool_cancel(p, &w[2].job)); /* too late, and no harm */
    assert_int_equal(w[2].text.len, w[3].text.len);
    pocket_pool_close(p);
    assert_int_equal(w[1].taken + w[1].ended, 0);
    for (int i = 0; i < 4; i++)
        watched_release(&w[i]);
}

static void closing_ends_everything(void **state)
{
    struct pocket_pool *p = open_pool(1, SIZE_MAX);
    struct watched w[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        watched_init(&w[i], model.model, "x");
        assert_int_equal(pocket_pool_submit(p, &w[i].job), 0);
    }
    pocket_pool_close(p);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(w[i].ended, 1);
        if (w[i].taken == 0)
            assert_int_equal(w[i].job.result, -ECANCELED);
        watched_release(&w[i]);
    }
    pocket_pool_close(NULL);
}

/* Jobs that are cancelled from another thread at any moment end once or are given back once. */
static void cancelling_races_with_working(void **state)
{
    static struct watched w[JOBS];
    struct pocket_pool *p = open_pool(3, SIZE_MAX);
    int given_back[JOBS] = {0};

    (void)state;
    for (int i = 0; i < JOBS; i++) {
        watched_init(&w[i], model.model, "x");
        assert_int_equal(pocket_pool_submit(p, &w[i].job), 0);
    }
    for (int i = 0; i < JOBS; i += 2)
        given_back[i] = pocket_pool_cancel(p, &w[i].job);
    for (int i = 0; i < JOBS; i++)
        if (!given_back[i])
            wait_ended(&w[i]);
    pocket_pool_close(p);
    for (int i = 0; i < JOBS; i++) {
        assert_int_equal(w[i].ended + given_back[i], 1);
        if (i % 2)
            assert_int_equal(w[i].job.result, 0);
        watched_release(&w[i]);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(answers_do_not_depend_on_the_threads),
    cmocka_unit_test(cancels_and_refuses),
    cmocka_unit_test(closing_ends_everything),
    cmocka_unit_test(cancelling_races_with_working),
};

int main(void)
{
    return cmocka_run_group_tests(tests, setup, teardown);
}
