/*
 * work: what the model is to say to a task, worked out. Each fills text and answer.
 */
#ifndef POCKET_WORK_H
#define POCKET_WORK_H

#include "tasks.h"

extern const char *const work_days[7];
extern const char *const work_months[12];

void work_addition(struct task *t, int a, int b);
void work_subtraction(struct task *t, int a, int b); /* a >= b */
void work_product(struct task *t, int a, int b);     /* b is one digit */
void work_comparison(struct task *t, const int *a, int n, bool largest);
void work_sum_parity(struct task *t, int a, int b);
/* Which letters count: NULL = all. */
void work_counting(struct task *t, const char *word, const char *letters);
void work_reversal(struct task *t, const char *word);
void work_letter_sorting(struct task *t, const char *word);
void work_number_sorting(struct task *t, const int *a, int n, bool up);
/* start from 0. */
void work_weekday(struct task *t, int start, int n, bool back);
void work_month(struct task *t, int start, int n, bool back);

#endif
