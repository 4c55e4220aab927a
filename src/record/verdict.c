#include "record/verdict.h"

#include <assert.h>
#include <string.h>

static_assert((int)REASON_COUNT <= RECORD_REASONS_MAX, "a record has room for every reason");

const struct reason_info reason_table[REASON_COUNT] = {
    [REASON_NO_ENERGY] = {"no_energy", VALIDITY_INVALID,
                          "the energy is not known: no sensor, or none that covers the time"},
    [REASON_COUNTER_RESET] = {"counter_reset", VALIDITY_INVALID,
                              "an energy counter started again inside the time measured"},
    [REASON_SUSPENDED] = {"suspended", VALIDITY_INVALID, "the machine slept"},
    [REASON_CONSERVATION] = {"conservation", VALIDITY_INVALID,
                             "the parts of the queries and the idle time do not add up to the "
                             "meter"},
    [REASON_ESTIMATED] = {"estimated", VALIDITY_DEGRADED,
                          "the energy is modelled from utilisation, not measured"},
    [REASON_COVERAGE_BELOW_95] = {"coverage_below_95", VALIDITY_DEGRADED,
                                  "the sensors were read during less than 95 % of the time"},
    [REASON_GAP] = {"gap", VALIDITY_DEGRADED,
                    "a sensor was not read for longer than three periods"},
    [REASON_TOO_FEW_TICKS] = {"too_few_ticks", VALIDITY_DEGRADED,
                              "the counter changed too seldom in so short a time: see the bounds"},
    [REASON_THROTTLED] = {"throttled", VALIDITY_DEGRADED,
                          "the device was slowed down by heat or a power limit"},
    [REASON_POWER_LIMIT_CHANGED] = {"power_limit_changed", VALIDITY_DEGRADED,
                                    "the device's power limit was changed"},
    [REASON_FOREIGN_PROCESS] = {"foreign_process", VALIDITY_DEGRADED,
                                "another process used the device; its energy is included"},
    [REASON_ON_BATTERY] = {"on_battery", VALIDITY_DEGRADED, "the machine ran on battery"},
    [REASON_LATE_SENDER] = {"late_sender", VALIDITY_DEGRADED,
                            "requests were sent later than planned"},
    [REASON_NO_IDLE] = {"no_idle", VALIDITY_DEGRADED,
                        "idle power was not measured: there are no net figures"},
    [REASON_QUERY_FAILED] = {"query_failed", VALIDITY_DEGRADED, "the query failed"},
};

enum reason reason_find(const char *name)
{
    enum reason reason = 0;

    while (reason < REASON_COUNT && (!name || strcmp(name, reason_table[reason].name) != 0))
        reason++;
    return reason;
}

bool verdict_has(const struct record *r, enum reason reason)
{
    for (size_t i = 0; i < r->measurement.n_reasons; i++)
        if (reason_find(r->measurement.reasons[i]) == reason)
            return true;
    return false;
}

void verdict_add(struct record *r, enum reason reason)
{
    enum validity severity = reason_table[reason].severity;

    if (verdict_has(r, reason) || r->measurement.n_reasons == RECORD_REASONS_MAX)
        return;
    r->measurement.reasons[r->measurement.n_reasons++] = reason_table[reason].name;
    if (severity > r->measurement.validity)
        r->measurement.validity = severity;
}

void verdict_count(struct run_verdict *v, const struct record *r)
{
    v->records++;
    v->degraded += r->measurement.validity == VALIDITY_DEGRADED;
    v->invalid += r->measurement.validity == VALIDITY_INVALID;
    for (size_t i = 0; i < r->measurement.n_reasons; i++) {
        enum reason reason = reason_find(r->measurement.reasons[i]);

        if (reason < REASON_COUNT)
            v->counts[reason]++;
    }
}

void verdict_note(struct run_verdict *v, enum reason reason)
{
    v->noted[reason] = true;
}

enum validity verdict_of(const struct run_verdict *v)
{
    enum validity worst = VALIDITY_VALID;

    for (size_t i = 0; i < REASON_COUNT; i++)
        if (v->noted[i] && reason_table[i].severity > worst)
            worst = reason_table[i].severity;
    if (v->records > 0 && v->invalid == v->records)
        return VALIDITY_INVALID;
    if (worst == VALIDITY_VALID && v->degraded + v->invalid > 0)
        return VALIDITY_DEGRADED;
    return worst;
}
