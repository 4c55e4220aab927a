/*
 * What a weights file can do, as the table of README.md.
 *
 *     pocket-evaluate [WEIGHTS [N [show]]]
 *
 * Without WEIGHTS the embedded ones. N held-out questions of each kind (default 200), and all of
 * the bundled ones; "show" prints the wrong answers of the former.
 */
#include "answer.h"
#include "tasks.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/num.h"
#include "dataset/dataset.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define SEED         99
#define SUBJECTS_MAX 64

struct tally {
    char subject[64];
    int asked;
    int right;
};

static struct tally *tally_of(struct tally *all, const char *subject)
{
    int i = 0;

    while (i < SUBJECTS_MAX - 1 && all[i].subject[0] && strcmp(all[i].subject, subject) != 0)
        i++;
    snprintf(all[i].subject, sizeof(all[i].subject), "%s", subject);
    return &all[i];
}

static void show_held_out(const struct pocket_model *m, int n, bool show)
{
    int all = 0;

    printf("| held out | right of %d |\n| --- | --- |\n", n);
    for (int k = 0; k < TASK_KINDS; k++) {
        int right = answer_count_right(m, (enum task_kind)k, n, SEED, show);

        all += right;
        printf("| %s | %d (%.1f %%) |\n", task_names[k], right, 100.0 * right / n);
    }
    printf("| all | %.1f %% |\n\n", 100.0 * all / n / TASK_KINDS);
}

static int show_bundled(const struct pocket_model *m, struct err *err)
{
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);
    AUTO_PTR(dataset) struct dataset *d = NULL;
    struct tally all[SUBJECTS_MAX] = {0};
    struct kv_list none = {0};
    struct item item;
    int r = dataset_open("ipw", &none, 0, &d, err);

    if (r < 0)
        return r;
    while ((r = dataset_next(d, &item, err)) > 0) {
        struct tally *t = tally_of(all, item.subject);
        char text[256];

        t->asked++;
        t->right += answer_say(s, m, item.problem, text, sizeof(text)) &&
                    answer_is_right(item.problem, item.answer, item.scorer, text);
    }
    printf("| bundled | trained | right |\n| --- | --- | --- |\n");
    for (struct tally *t = all; t->subject[0]; t++)
        printf("| %s | %s | %d of %d (%.0f %%) |\n", t->subject,
               task_knows_subject(t->subject) ? "yes" : "no", t->right, t->asked,
               100.0 * t->right / t->asked);
    return r;
}

int main(int argc, char **argv)
{
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    AUTO(fs_map) struct fs_map file = {(const char *)pocket_weights, pocket_weights_size};
    struct err err = {0};
    int64_t n = 200;
    int r = argc > 1 ? fs_map_open(AT_FDCWD, argv[1], &file, &err) : 0;

    if (r == 0 && argc > 2)
        r = parse_i64(argv[2], &n, &err);
    if (r == 0)
        r = task_hold_out_bundled(&err);
    if (r >= 0)
        r = pocket_model_open(file.data, file.size, &m, &err);
    if (r == 0) {
        show_held_out(m, (int)n, argc > 3);
        r = show_bundled(m, &err);
    }
    if (argc < 2)
        file = (struct fs_map){0};
    if (r < 0)
        fprintf(stderr, "pocket-evaluate: %s\n", err.text);
    return r < 0;
}
