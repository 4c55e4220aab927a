#!/usr/bin/env bash
# One query of three minutes is measured whole: nothing of it is forgotten before it has ended.
# Mostly sleep; ./test runs it beside everything else.
# Usage: long_query.sh IPW TESTSERVER SIM-POWERCAP [SECONDS]
set -u
ipw=$1 testserver=$2 simpowercap=$3 seconds=${4:-185} watts=150
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

mkdir "$work/sys"
"$simpowercap" "$work/sys" 100 262144 package-0=const:$watts >"$work/sim" &
pids+=($!)
wait_for "$work/sim" ready
serve --ttft 1s --itl 1s --tokens "$seconds"
echo '{"question": "Why?", "answer": "42"}' >"$work/q.jsonl"
IPW_SYSFS_ROOT=$work/sys profile --dataset "$work/q.jsonl" --telemetry rapl --idle 1s \
    --warmup-queries 0 -q >"$work/out"
check "the query ends well" [ $? = 0 ]
run=$(ls -d "$work"/runs/*fake_model_q)
row=$(rows "$run" | jq -c '{seconds: (.request.end_s - .request.sent_s)} +
    (.model_metrics["fake-model"] | {joules: .energy_metrics.cpu_per_query_joules} + .measurement +
    {tokens: .token_metrics.output})')
value() { jq -r "$1" <<<"$row"; }
echo "$row"
check "it lasted $seconds s" holds "$(value .seconds) >= $seconds - 0.01 && $(value .seconds) < $seconds + 5"
check "all its tokens" is "$(value .tokens)" "$seconds"
check "energy is power times time within 0.5 %" holds \
    "$(value .joules) > 0.995 * $watts * $(value .seconds) && $(value .joules) < 1.005 * $watts * $(value .seconds)"
check "the bounds hold it" holds \
    "$(value .energy_low_joules) <= $watts * $(value .seconds) && $(value .energy_high_joules) >= $watts * $(value .seconds)"
check "coverage over 0.99" holds "$(value .coverage) > 0.99"
check "a sample for nearly every refresh" holds "$(value .sample_count) > 9.5 * $(value .seconds)"
# what was read is also on disk, from the first second to the last
kept=$("$ipw" validate --json "$run" | jq .telemetry_samples)
check "all samples are kept ($kept)" holds "$kept >= $(value .sample_count)"
check "the run is sound" "$ipw" validate -q "$run"
check "and not invalid, whatever else ran here" [ "$(summary "$run" .validity.verdict)" != invalid ]
exit $bad
