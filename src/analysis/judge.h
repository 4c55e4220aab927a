/*
 * judge: another model decides whether answers are right. The half of the `judge` scorer that talks
 * to a server; score/judgement.h has the questions and the reading of replies.
 *
 *     AUTO_PTR(judge) struct judge *judge = NULL;
 *     struct judge_config config = {.model = "m", .base_url = url, .concurrency = 4, .retries = 3,
 *                                   .on_result = keep, .arg = all};
 *     r = judge_open(&config, &judge, &err);
 *     for each record: {
 *         r = judge_add(judge, "judge:simpleqa", &item, answer, record, &err);
 *         r = judge_run(judge, 64, -1, &err);      not all texts at once in memory
 *     }
 *     r = judge_run(judge, 0, -1, &err);           to the end
 *
 * Results come in any order, on the caller's thread, from judge_poll and judge_run only; on_result
 * may call judge_add and judge_cancel. A question is asked again, after a growing wait, when the
 * server could not be reached, broke off, or said 408, 429 or 5xx; Retry-After is honoured, and
 * holds all questions back. One that fails for good is unscored: neither wrong nor unscorable, and
 * it may be asked another day. When the server refuses the key or the model, cannot be reached at
 * all, or has failed JUDGE_GIVE_UP questions in a row, the rest is not asked.
 *
 * What the judge costs is counted here and nowhere else: it is no part of the run that is judged.
 */
#ifndef IPW_ANALYSIS_JUDGE_H
#define IPW_ANALYSIS_JUDGE_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "core/item.h"
#include "core/kv.h"
#include "score/scorer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JUDGE_GIVE_UP         5 /* questions that fail for good, one after the other */
#define JUDGE_CONCURRENCY_MAX 1000
/* A server that wants a longer wait than this is not waited for. */
#define JUDGE_WAIT_MAX_NS (300 * NS_PER_S)

struct judge;

struct judge_result {
    bool scored;
    /* Not scored although the server was there: it failed at this question, and may do so again */
    bool refused;
    struct score score;       /* when scored; extracted is the judge's last line */
    char error[ERR_TEXT_MAX]; /* when not */
    int64_t attempts;         /* 0: decided without asking, or never asked */
};

/* `user` is what judge_add was given. */
typedef void (*judge_fn)(void *arg, void *user, const struct judge_result *result);

struct judge_config {
    const char *base_url; /* NULL = the openai client's default, a server on this machine */
    const char *model;
    /* api_key, endpoint, header and ready_timeout are for the client; all others go into the
     * request (temperature, max_tokens, reasoning_effort, ...): nothing is sent that was not asked
     * for, because some servers refuse it. NULL = none. Without api_key the key is that of
     * IPW_EVAL_API_KEY, else IPW_API_KEY, else OPENAI_API_KEY. */
    const struct kv_list *params;
    int64_t concurrency; /* questions in flight: 1 to JUDGE_CONCURRENCY_MAX */
    int64_t retries;     /* of one question; 0 or more */
    mono_ns timeout_ns;  /* of one attempt; 0 = 600 s */
    mono_ns backoff_ns;  /* before the first retry, then doubled each time; 0 = 1 s */
    uint64_t seed;       /* of the fences */
    judge_fn on_result;
    void *arg;
};

/* Checks the configuration and copies it; does not talk to the server. -EINVAL with words. */
int judge_open(const struct judge_config *config, struct judge **ret, struct err *err);
/* What is still pending ends without a result. NULL is fine. */
void judge_close(struct judge *j);
DEFINE_AUTO_PTR(judge, judge_close);

/* Optional, before the first question: is the server there, and does it have the model? Waits for
 * one that is loading; see client_ops.prepare. */
int judge_prepare(struct judge *j, int (*progress)(void *arg, const char *words), void *arg,
                  struct err *err);

/* Queues a question; copies the texts. answer may be NULL. Without a reference it is unscorable,
 * without an answer wrong, and the judge is not asked. -EINVAL: the spec is not of a judge, or of
 * no kind there is. */
int judge_add(struct judge *j, const char *spec, const struct item *item, const char *answer,
              void *user, struct err *err);
/* How many were added and have no result yet. */
size_t judge_pending(const struct judge *j);

/* Works until at least one result was given, the deadline has passed, wake_fd (-1: none) is
 * readable or a signal came. Returns how many results were given; negative when the client is
 * broken, and then all that is pending has ended unscored. 0 at once when nothing is pending. */
int judge_poll(struct judge *j, mono_ns deadline, int wake_fd, struct err *err);
/* The same until at most `left` are pending, and returns 0; -EINTR after wake_fd or a signal. */
int judge_run(struct judge *j, size_t left, int wake_fd, struct err *err);
/* All that is pending, and what is added later, ends as unscored, at the next poll or run. */
void judge_cancel(struct judge *j);

struct judge_totals {
    int64_t correct, wrong, unscorable, unscored;
    int64_t requests;                    /* attempts that were begun */
    int64_t input_tokens, output_tokens; /* of the replies; -1 = not told for all of them */
    double seconds;                      /* with at least one request in flight */
};
struct judge_totals judge_totals(const struct judge *j);
/* The totals, the model and the server (without credentials) as members of the open object. */
void judge_write(const struct judge *j, struct json_writer *w);

#endif
