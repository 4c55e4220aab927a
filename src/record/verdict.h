/*
 * verdict: may these figures be used?
 *
 * Each reason to doubt has a stable name (it is stored, and scripts look for it), a severity and a
 * sentence. `degraded`: the figures stand, but with less certainty than usual, or not for what they
 * seem to say. `invalid`: the energy figures must not be used.
 *
 *     verdict_add(&record, REASON_GAP);
 *
 *     struct run_verdict v = {0};
 *     verdict_count(&v, &record);                each record
 *     verdict_note(&v, REASON_LATE_SENDER);      what concerns the run as a whole
 *     validity = verdict_of(&v);
 *
 * Pure; one thread per struct.
 */
#ifndef IPW_RECORD_VERDICT_H
#define IPW_RECORD_VERDICT_H

#include "core/record.h"

#include <stdbool.h>
#include <stdint.h>

enum reason {
    REASON_NO_ENERGY,
    REASON_COUNTER_RESET,
    REASON_SUSPENDED,
    REASON_CONSERVATION,
    REASON_ESTIMATED,
    REASON_COVERAGE_BELOW_95,
    REASON_GAP,
    REASON_TOO_FEW_TICKS,
    REASON_THROTTLED,
    REASON_POWER_LIMIT_CHANGED,
    REASON_FOREIGN_PROCESS,
    REASON_ON_BATTERY,
    REASON_LATE_SENDER,
    REASON_NO_IDLE,
    REASON_QUERY_FAILED,
    REASON_COUNT
};

struct reason_info {
    const char *name;
    enum validity severity;
    const char *text; /* a sentence without a stop */
};

extern const struct reason_info reason_table[REASON_COUNT];

/* REASON_COUNT = no such name; NULL is none. */
enum reason reason_find(const char *name);

/* Adds the reason to r->measurement, once, and raises its validity. */
void verdict_add(struct record *r, enum reason reason);
bool verdict_has(const struct record *r, enum reason reason);

/* Of a run. All zero is a run without records: valid. */
struct run_verdict {
    int64_t records, degraded, invalid;
    int64_t counts[REASON_COUNT]; /* records that have the reason */
    bool noted[REASON_COUNT];     /* the run has it */
};

void verdict_count(struct run_verdict *v, const struct record *r);
void verdict_note(struct run_verdict *v, enum reason reason);
/* As bad as the worst noted reason; invalid, too, when every record is; degraded when any record is
 * not valid. */
enum validity verdict_of(const struct run_verdict *v);

#endif
