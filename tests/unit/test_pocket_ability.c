/*
 * What the embedded weights can do, on questions whose content was never trained: nearly all sums
 * and differences, most of everything they were trained for, and next to nothing of the rest.
 */
#include "harness.h"

#include "answer.h"
#include "tasks.h"

#include "base/cleanup.h"
#include "dataset/dataset.h"

#define EACH 40

static struct pocket_model *model;

static int open_model(void **state)
{
    struct err err = {0};

    (void)state;
    assert_ok(task_hold_out_bundled(&err), &err);
    assert_ok(pocket_model_open(pocket_weights, pocket_weights_size, &model, &err), &err);
    return 0;
}

static int close_model(void **state)
{
    (void)state;
    pocket_model_close(model);
    return 0;
}

static void knows_what_it_was_trained_for(void **state)
{
    int right[TASK_KINDS], all = 0;

    (void)state;
    for (int k = 0; k < TASK_KINDS; k++) {
        right[k] = answer_count_right(model, (enum task_kind)k, EACH, 20260, false);
        print_message("%s: %d of %d\n", task_names[k], right[k], EACH);
        all += right[k];
    }
    assert_true(right[TASK_ADDITION] + right[TASK_SUBTRACTION] >= 0.95 * 2 * EACH);
    assert_true(all >= 0.8 * TASK_KINDS * EACH);
}

/* Every third bundled question. */
static void answers_the_bundled_questions(void **state)
{
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(model);
    struct kv_list none = {0};
    struct dataset *d = NULL;
    struct err err = {0};
    struct item item;
    int asked[2] = {0}, right[2] = {0};

    (void)state;
    assert_ok(dataset_open("ipw", &none, 0, &d, &err), &err);
    while (dataset_next(d, &item, &err) > 0) {
        bool known = task_knows_subject(item.subject);
        char text[256];

        if (item.index % 3)
            continue;
        asked[known]++;
        right[known] += answer_say(s, model, item.problem, text, sizeof(text)) &&
                        answer_is_right(item.problem, item.answer, item.scorer, text);
    }
    dataset_free(d);
    print_message("trained subjects: %d of %d, others: %d of %d\n", right[1], asked[1], right[0],
                  asked[0]);
    assert_true(asked[0] > 100 && asked[1] > 100);
    assert_true(right[1] >= 0.8 * asked[1]);
    assert_true(right[0] <= 0.2 * asked[0]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(knows_what_it_was_trained_for),
    cmocka_unit_test(answers_the_bundled_questions),
};

int main(void)
{
    return cmocka_run_group_tests(tests, open_model, close_model);
}
