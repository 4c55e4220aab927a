#include "report/subject.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct json *subject_find(const struct subject *s, const char *path)
{
    const struct json *v = s->summary;

    while (v && *path) {
        size_t n = strcspn(path, ".");
        char key[64];

        snprintf(key, sizeof(key), "%.*s", (int)n, path);
        v = json_get(v, key);
        path += path[n] ? n + 1 : n;
    }
    return v;
}

double subject_real(const struct subject *s, const char *path)
{
    return json_real(subject_find(s, path), NAN);
}

int64_t subject_count(const struct subject *s, const char *path)
{
    return json_int(subject_find(s, path), -1);
}

const char *subject_text(const struct subject *s, const char *path)
{
    const char *text = json_text(subject_find(s, path), "");

    return *text ? text : NULL;
}

static enum energy_kind energy_of(const struct subject *s)
{
    const char *source = tally_source(&s->survey.tally);

    if (strcmp(source, "none") == 0)
        return ENERGY_NONE;
    return strcmp(source, "estimated") == 0 ? ENERGY_ESTIMATED : ENERGY_MEASURED;
}

/* The run's own verdict; without one, what its records say. Never better than those. */
static enum validity verdict_of(const struct subject *s)
{
    const int64_t *by = s->survey.by_validity;
    const char *word = subject_text(s, "validity.verdict");
    enum validity v = s->survey.tally.records > 0 && by[VALIDITY_INVALID] == s->survey.tally.records
                          ? VALIDITY_INVALID
                      : by[VALIDITY_DEGRADED] + by[VALIDITY_INVALID] > 0 ? VALIDITY_DEGRADED
                                                                         : VALIDITY_VALID;

    for (int i = VALIDITY_DEGRADED; word && i <= VALIDITY_INVALID; i++)
        if (i > (int)v && strcmp(word, validity_name((enum validity)i)) == 0)
            v = (enum validity)i;
    return v;
}

int subject_open(struct run *run, struct subject *ret, struct err *err)
{
    struct subject s = {.run = run, .summary = run_summary(run)};
    int r = survey_take(run, &s.survey, err);

    if (r < 0)
        return r;
    s.energy = energy_of(&s);
    s.verdict = verdict_of(&s);
    *ret = s;
    return 0;
}

void subject_release(struct subject *s)
{
    survey_release(&s->survey);
}

static const char *model_of(const struct subject *s)
{
    const char *model = run_model(s->run);

    return model && *model ? model : "unnamed model";
}

/* The last part of a path, whatever slashes follow it. */
static void last_part(const char *path, char *text, size_t size)
{
    size_t n = strlen(path), start;

    while (n > 1 && path[n - 1] == '/')
        n--;
    for (start = n; start > 0 && path[start - 1] != '/'; start--)
        ;
    snprintf(text, size, "%.*s", (int)(n - start), path + start);
}

static bool has_twin(const struct subject *s, size_t n, size_t i)
{
    for (size_t k = 0; k < n; k++)
        if (k != i && strcmp(model_of(&s[k]), model_of(&s[i])) == 0)
            return true;
    return false;
}

void subjects_name(struct subject *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char dir[80];

        last_part(run_dir(s[i].run), dir, sizeof(dir));
        if (has_twin(s, n, i))
            snprintf(s[i].name, sizeof(s[i].name), "%zu: %.70s", i + 1, dir);
        else
            snprintf(s[i].name, sizeof(s[i].name), "%.150s", model_of(&s[i]));
    }
}
