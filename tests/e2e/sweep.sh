#!/usr/bin/env bash
# ipw sweep over loads and models, on a server whose energy can be predicted: the base is drawn
# whatever it does, so the more streams share it, the less a token costs, at the same latency.
# Usage: sweep.sh IPW TESTSERVER
set -u
ipw=$1 testserver=$2
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

for i in $(seq 0 31); do
    echo "{\"question\": \"What is $i + 1?\", \"answer\": \"$((i + 1))\"}"
done >"$work/q.jsonl"
sweep() {
    IPW_SYSFS_ROOT=$work/sys "$ipw" sweep --client openai --client-base-url "$url" \
        --output-dir "$work/runs" --dataset "$work/q.jsonl" --warmup-queries 0 --cooldown 100ms \
        -q "$@"
}
asked() { grep -c '"prompt_hash"' "$served"; }
point() { jq -r ".runs[$1] | $2" "$work/runs/sweep.json"; }

# --- wrong usage
serve --powercap "$work/sys:20:100:0:0.5" --model good --model other --ttft 50ms --itl 10ms --tokens 16
sweep 2>"$work/err"
check "a sweep without a list: wrong usage" [ $? = 2 ]
check "says what is missing" grep -q -- '--concurrency' "$work/err"
for wrong in "--concurrency 1,0" "--concurrency 1,,2" "--request-rate 1,x" "--model good,,other"; do
    # shellcheck disable=SC2086
    sweep $wrong 2>/dev/null
    check "$wrong is wrong usage" [ $? = 2 ]
done
check "and nothing was asked" is "$(asked)" 0

# --- loads: twice the streams, about half the energy of the base per token
sweep --model good --concurrency 1,2,4,8 --telemetry rapl --idle 1s >"$work/out" 2>"$work/err"
check "four loads" [ $? = 0 ]
check "four runs" is "$(ls -d "$work"/runs/profile_* | wc -l)" 4
check "every question at every load" is "$(asked)" 128
check "sweep.json has them in order" is "$(jq -c '[.runs[] | .concurrency]' "$work/runs/sweep.json")" '[1,2,4,8]'
check "all done" is "$(jq -c '[.runs[] | .outcome] | unique' "$work/runs/sweep.json")" '["done"]'
check "measured" is "$(jq -c '[.runs[] | .energy_source] | unique' "$work/runs/sweep.json")" '["measured"]'
check "32 queries each" is "$(jq -c '[.runs[] | .queries] | unique' "$work/runs/sweep.json")" '[32]'
# 16 tokens in 50 + 15 * 10 ms at 100 W: 20 J / 16 / streams, and 0.5 J of its own
for i in 0 1 2 3; do
    streams=$((1 << i)) j=$(point $i .joules_per_output_token)
    check "$streams streams: $j J a token" holds "$j > 0.97 * (0.5 + 1.25 / $streams) && $j < 1.3 * (0.5 + 1.25 / $streams)"
    check "$streams streams: latency" holds "$(point $i .p95_latency_seconds) >= 0.2 && $(point $i .p95_latency_seconds) < 0.6"
done
check "the cheapest is on the front" is "$(point 3 .pareto)" true
# the mark by its definition, on the figures in the file
check "no other mark is wrong" jq -e '.runs as $all | all($all[]; . as $p | .pareto == (all($all[];
    (.joules_per_output_token <= $p.joules_per_output_token and
     .p95_latency_seconds <= $p.p95_latency_seconds and
     (.joules_per_output_token < $p.joules_per_output_token or
      .p95_latency_seconds < $p.p95_latency_seconds)) | not)))' "$work/runs/sweep.json" >/dev/null
check "the table has a line per load" is "$(grep -c '^good ' "$work/out")" 4
check "and marks as many as the file" is "$(grep -c '^good .*\*$' "$work/out")" "$(jq '[.runs[] | select(.pareto)] | length' "$work/runs/sweep.json")"

# --- a model that fails in the middle does not end the sweep
stop_server
rm -rf "$work/runs"
serve --model good --model other --ttft 5ms --itl 1ms --tokens 4
sweep --model good,nosuch,other --concurrency 4 --telemetry none --idle 0 >"$work/out" 2>"$work/err"
check "a failing model: exit 1" [ $? = 1 ]
check "the others are done" is "$(jq -c '[.runs[] | .outcome]' "$work/runs/sweep.json")" '["done","FAILED","done"]'
check "the failed one has no path" is "$(point 1 .path)" null
check "and no figures" is "$(point 1 '[.joules_per_output_token, .p95_latency_seconds, .accuracy] | unique | tostring')" '[null]'
check "which is said" grep -q nosuch "$work/err"
check "and shown in the table" grep -q '^nosuch .*FAILED' "$work/out"
check "without energy there is no front" is "$(jq '[.runs[] | select(.pareto)] | length' "$work/runs/sweep.json")" 0
check "64 questions" is "$(asked)" 64

# --- --resume asks nothing twice
sweep --model good,nosuch,other --concurrency 4 --telemetry none --idle 0 --resume --json >"$work/json" 2>"$work/err"
check "--resume: still one that fails" [ $? = 1 ]
check "nothing was asked again" is "$(asked)" 64
check "the same table" is "$(jq -c '[.runs[] | [.model, .outcome, .queries]]' "$work/json")" '[["good","done",32],["nosuch","FAILED",0],["other","done",32]]'
check "--json is sweep.json" cmp -s "$work/json" "$work/runs/sweep.json"
sweep --model good,other --concurrency 4 --telemetry none --idle 0 >/dev/null 2>"$work/err" </dev/null
check "an existing run is not touched" [ $? = 1 ]
check "nothing was asked" is "$(asked)" 64
sweep --model good,other --concurrency 4,8 --telemetry none --idle 0 --resume >/dev/null 2>&1
check "--resume with a further load" [ $? = 0 ]
check "asks only that" is "$(asked)" 128
stop_server

# --- some queries fail: exit 3, and the sweep goes on
serve --model good --ttft 5ms --itl 1ms --tokens 2 --fault status:500 --fault-rate 0.3 --seed 2
rm -rf "$work/runs"
sweep --concurrency 1,4 --telemetry none --idle 0 --stop-after 0 >/dev/null 2>&1
check "some failed: exit 3" [ $? = 3 ]
check "in both" is "$(jq -c '[.runs[] | [.outcome, .failed > 0]] | unique' "$work/runs/sweep.json")" '[["some failed",true]]'
exit $bad
