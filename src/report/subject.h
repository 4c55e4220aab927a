/*
 * subject: one of the runs that a page is about, with what is known of it as a whole.
 */
#ifndef IPW_REPORT_SUBJECT_H
#define IPW_REPORT_SUBJECT_H

#include "analysis/run.h"
#include "base/json.h"
#include "report/survey.h"

/* Which words to use for the energy of a run. */
enum energy_kind { ENERGY_MEASURED, ENERGY_ESTIMATED, ENERGY_NONE };

struct subject {
    struct run *run;
    const struct json *summary; /* NULL = the run was not finished */
    struct survey survey;
    enum energy_kind energy;
    enum validity verdict;
    char name[160]; /* short, and no other run of the page has it */
};

/* Reads the run's records. */
int subject_open(struct run *run, struct subject *ret, struct err *err);
/* The run stays the caller's. */
void subject_release(struct subject *s);
/* Names that tell the runs apart: the model; where two have the same, the directory too. */
void subjects_name(struct subject *s, size_t n);

/* "totals.joules.gpu" of the summary; NULL = not there. */
const struct json *subject_find(const struct subject *s, const char *path);
double subject_real(const struct subject *s, const char *path);
int64_t subject_count(const struct subject *s, const char *path);
/* NULL when absent or empty. */
const char *subject_text(const struct subject *s, const char *path);

#endif
