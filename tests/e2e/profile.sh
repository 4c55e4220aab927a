#!/usr/bin/env bash
# ipw profile as a person calls it: against the test server, with sensors whose truth is known.
# Usage: profile.sh IPW TESTSERVER SIM-POWERCAP
set -u
ipw=$1 testserver=$2 simpowercap=$3
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# behind ARGUMENTS...: ipw profile in the background, as `run`, where a shell would have SIGINT ignored
behind() {
    env --default-signal=INT "$ipw" profile --client openai --client-base-url "$url" \
        --output-dir "$work/runs" "$@" >/dev/null 2>"$work/err" &
    run=$!
}
# waits until the server has answered so many queries
answered() {
    for _ in $(seq 200); do
        [ "$(grep -c '"status":200' "$served")" -gt "$1" ] && return
        sleep 0.05
    done
}

for i in $(seq 0 39); do
    echo "{\"question\": \"What is $i + 1?\", \"answer\": \"$((i + 1))\", \"category\": \"sums\"}"
done >"$work/q.jsonl"
quiet=(--telemetry estimate,host --idle 0 --warmup-queries 0 -q)
none=(--telemetry none --idle 0 --warmup-queries 0 -q)

# --- the seed's behaviours
serve --ttft 2ms --itl 1ms --tokens 4 --model test-model
mkdir "$work/noproc"
head -n 1 "$work/q.jsonl" >"$work/Test Dataset.jsonl"
IPW_PROCFS_ROOT=$work/noproc profile --dataset "$work/Test Dataset.jsonl" --telemetry none --idle 0 \
    --warmup-queries 0 -q >/dev/null
check "one record, no hardware known" [ $? = 0 ]
one="$work/runs/profile_UNKNOWN_HW_test_model_Test Dataset"
check "the directory's name" [ -f "$one/summary.json" ]
check "profiler_config.model" is "$(summary "$one" .profiler_config.model)" test-model
check "versions" is "$(summary "$one" '.versions.ipw')" "$("$ipw" --version | cut -d' ' -f2)"
check "total_queries" is "$(summary "$one" .total_queries)" 1
check "energy is null, not 0" is \
    "$(rows "$one" | jq '.model_metrics["test-model"].energy_metrics.per_query_joules')" null
check "tokens" is "$(rows "$one" | jq -c '.model_metrics["test-model"].token_metrics.output')" 4
check "the answer is under the model's name" is \
    "$(rows "$one" | jq '.model_answers["test-model"] == .model_metrics["test-model"].lm_response')" true

head -n 6 "$work/q.jsonl" >"$work/six.jsonl"
before=$(wc -l <"$served")
profile --dataset "$work/six.jsonl" --telemetry none --idle 0 --warmup-queries 3 --max-queries 3 -q >/dev/null
sleep 0.2
check "warm-up 3, at most 3: six calls" is "$(grep -c '"outcome"' <(tail -n +$((before + 1)) "$served" | grep -v models))" 6
six=$(ls -d "$work"/runs/*six)
check "and three records" is "$(rows "$six" | wc -l)" 3
check "the first records of the dataset" is "$(rows "$six" | jq -r .problem | head -n 1)" "What is 0 + 1?"

profile --dataset nosuchset "${quiet[@]}" 2>"$work/err"
check "unknown dataset: error" [ $? = 1 ]
check "which is named" grep -qi "dataset.*nosuchset\|nosuchset.*dataset" "$work/err"
"$ipw" profile --client opnai "${quiet[@]}" 2>"$work/err"
check "unknown client: error" [ $? = 1 ]
check "with a suggestion" grep -q "did you mean 'openai'" "$work/err"
"$ipw" profile --client openai --client-base-url http://127.0.0.1:1 --model x "${quiet[@]}" \
    --output-dir "$work/none" 2>"$work/err"
check "no server: error" [ $? = 1 ]
check "that names the address" grep -q '127.0.0.1:1' "$work/err"
check "and leaves no directory" [ ! -e "$work/none" ]
profile --model other "${quiet[@]}" --dataset "$work/six.jsonl" 2>"$work/err"
check "a model the server lacks: error" [ $? = 1 ]
check "with its list" grep -q test-model "$work/err"
for wrong in "--max-queries 0" "--overwrite --resume" "--timeout 0s" "--sample-interval 1us" "--concurrency -1" "--bogus 1"; do
    # shellcheck disable=SC2086
    profile $wrong 2>/dev/null
    check "$wrong is wrong usage" [ $? = 2 ]
done

# --- an existing run
profile --dataset "$work/six.jsonl" --max-queries 3 "${quiet[@]}" </dev/null 2>"$work/err"
check "an existing run is not touched" [ $? = 1 ]
check "and says what can be done" grep -q -- '--overwrite.*--resume' "$work/err"
profile --dataset "$work/six.jsonl" --max-queries 2 "${quiet[@]}" --overwrite >/dev/null
check "--overwrite" is "$(rows "$six" | wc -l)" 2
profile --dataset "$work/six.jsonl" --max-queries 3 "${quiet[@]}" --resume 2>"$work/err"
check "--resume with another configuration" [ $? = 1 ]
check "names the difference" grep -q max_queries "$work/err"
profile --dataset "$work/six.jsonl" --max-queries 2 "${quiet[@]}" --resume >/dev/null 2>"$work/err"
check "--resume of a whole run" [ $? = 0 ]
check "asks nothing" is "$(rows "$six" | wc -l)" 2
profile --dataset "$work/six.jsonl" --max-queries 2 "${quiet[@]}" --overwrite --json >"$work/json"
check "--json is one document" is "$(jq -s 'length' "$work/json")" 1
check "which is summary.json" cmp -s "$work/json" "$six/summary.json"
stop_server

# --- a server that is loading is waited for, visibly
serve --ttft 1ms --itl 1ms --tokens 2 --fault loading:3s --fault-scope all
profile --dataset "$work/six.jsonl" --overwrite --telemetry none --idle 0 --max-queries 2 >/dev/null 2>"$work/err"
check "a loading server" [ $? = 0 ]
check "is waited for, with a countdown" grep -Eq 'waiting for the server, [0-9]+ s left' "$work/err"
rm -rf "$work"/runs/*fake_model_six
stop_server

# --- two runs on the same seed send the same requests in the same order
serve --ttft 1ms --itl 1ms --tokens 2
for k in 1 2; do
    profile --dataset "$work/q.jsonl" --dataset-param shuffle=true --seed 7 "${quiet[@]}" --overwrite >/dev/null
    rows "$(ls -d "$work"/runs/*fake_model_q)" | jq -c '[.request.index, .problem]' >"$work/order$k"
done
check "the same seed, the same order" cmp -s "$work/order1" "$work/order2"
profile --dataset "$work/q.jsonl" --dataset-param shuffle=true --seed 8 "${quiet[@]}" --overwrite >/dev/null
rows "$(ls -d "$work"/runs/*fake_model_q)" | jq -c '[.request.index, .problem]' >"$work/order3"
check "another seed, another order" [ "$(cmp -s "$work/order1" "$work/order3"; echo $?)" = 1 ]
check "all 40 questions" is "$(jq -r '.[1]' "$work/order3" | sort -u | wc -l)" 40

# --- repetitions
profile --dataset "$work/six.jsonl" "${quiet[@]}" --repeat 3 --cooldown 100ms >/dev/null
check "--repeat 3" [ $? = 0 ]
check "three directories" is "$(ls -d "$work"/runs/*fake_model_six* | wc -l)" 3
check "in another order" [ "$(rows "$(ls -d "$work"/runs/*fake_model_six_r2)" | jq -r .problem | md5sum)" != \
    "$(rows "$(ls -d "$work"/runs/*fake_model_six)" | jq -r .problem | md5sum)" ]

# --- secrets
profile --dataset "$work/six.jsonl" "${quiet[@]}" --overwrite --client-param api_key=sesame123 \
    --client-param 'header=X-Secret: sesame456' 2>"$work/err" >"$work/out"
check "a run with a key" [ $? = 0 ]
check "no secret in any file or output" [ -z "$(grep -rl 'sesame' "$work/runs" "$work/out" "$work/err")" ]
stop_server

# --- a fifth of the queries fail: every one is a record, exit 3
serve --ttft 2ms --itl 1ms --tokens 4 --fault status:500 --fault cut --fault garbage --fault reset --fault-rate 0.2 --seed 3
profile --dataset "$work/q.jsonl" "${quiet[@]}" --overwrite --duration 2s --concurrency 4 \
    --stop-after 0 >"$work/out"
check "some failed: exit 3" [ $? = 3 ]
q=$(ls -d "$work"/runs/*fake_model_q)
n=$(rows "$q" | wc -l) failed=$(rows "$q" | jq -r 'select(.request.status != "ok") | .request.error' | grep -c .)
check "a failed query is a record ($failed of $n)" holds "$failed > 0.1 * $n && $failed < 0.3 * $n"
check "every request is a record" is "$(rows "$q" | jq -r .request.index | sort -n | uniq | wc -l)" "$n"
check "a failed one has no tokens" is "$(rows "$q" | jq -c 'select(.request.status != "ok") | .model_metrics["fake-model"].token_metrics.output' | sort -u)" null
check "the summary counts them" is "$(summary "$q" .totals.failed)" "$failed"
check "validate is content" "$ipw" validate "$q" -q
stop_server
serve --ttft 2ms --itl 1ms --tokens 4 --fault status:500 --fault cut --fault reset --fault-rate 0.2 --seed 3
profile --dataset "$work/q.jsonl" "${quiet[@]}" --overwrite --retries 8 >/dev/null
check "with retries all succeed" [ $? = 0 ]
check "and attempts are counted" holds "$(rows "$q" | jq -s 'map(.request.attempts) | add') > 40"
stop_server

# --- failures in a row
serve --fault status:500
profile --dataset "$work/q.jsonl" "${quiet[@]}" --overwrite --stop-after 5 2>"$work/err" >/dev/null
check "gives up: exit 1" [ $? = 1 ]
check "and says so" grep -q 'stopped after 5 failures in a row' "$work/err"
check "with five records" is "$(rows "$q" | wc -l)" 5
stop_server
serve --ttft 1ms --itl 1ms --tokens 2 --fault rate-limit:1 --fault-rate 0.1 --seed 5
start=$SECONDS
profile --dataset "$work/six.jsonl" "${quiet[@]}" --overwrite --retries 3 >/dev/null
check "429 with Retry-After is waited for" [ $? = 0 ]
stop_server

# --- interruption: once = finish cleanly, everything saved
serve --ttft 50ms --itl 10ms --tokens 20
behind --dataset "$work/q.jsonl" "${quiet[@]}" --overwrite --concurrency 2
answered 8
kill -INT $run
wait $run
check "Ctrl-C: exit 130" [ $? = 130 ]
n=$(rows "$q" | wc -l)
check "what was done is saved ($n)" holds "$n >= 4 && $n < 40"
check "and can be loaded" [ -f "$q/state.json" ]
profile --dataset "$work/q.jsonl" "${quiet[@]}" --resume --concurrency 2 >/dev/null
check "--resume finishes it" [ $? = 0 ]
check "every question once" is "$(rows "$q" | jq -r .request.index | sort -n | tr '\n' ' ')" "$(seq 0 39 | tr '\n' ' ')"
behind --dataset "$work/q.jsonl" "${quiet[@]}" --overwrite --concurrency 2
answered 60
kill -TERM $run
wait $run
check "SIGTERM: as Ctrl-C" [ $? = 130 ]

behind --dataset "$work/q.jsonl" "${none[@]}" --overwrite --concurrency 2 --param max_tokens=2000
sleep 1
kill -INT $run
sleep 0.05
kill -INT $run 2>/dev/null
wait $run 2>/dev/null
check "Ctrl-C twice leaves" [ $? = 130 ]
check "and the run can be read" [ "$(rows "$q" 2>/dev/null | wc -l)" -gt 0 ]
rm -rf "$q"
behind --dataset "$work/q.jsonl" --telemetry none --idle 30s --warmup-queries 0 -q
sleep 1
kill -INT $run
wait $run
check "Ctrl-C while idle power is measured: exit 130" [ $? = 130 ]
check "and is said" grep -q 'before the first query' "$work/err"

# --- at a terminal: the question, and a progress line that is drawn again
rm -rf "$q"
terminal() { # terminal ANSWER OPTIONS...
    local answer=$1
    shift
    echo "$answer" | script -qec "$ipw profile --client openai --client-base-url $url \
        --output-dir $work/runs --dataset $work/q.jsonl --telemetry none --idle 0 --warmup-queries 0 \
        --max-queries 12 $*" /dev/null >"$work/tty" 2>&1
}
terminal n
check "a progress line, drawn again" grep -q $'\r\033\[K.*12/12.*q/s' "$work/tty"
terminal n --seed 1
check "no is the default" [ $? = 1 ]
check "asked" grep -q 'Overwrite? \[y/N\]' "$work/tty"
check "not overwritten" is "$(summary "$q" .profiler_config.seed)" 0
terminal y --seed 1
check "yes" [ $? = 0 ]
check "overwritten" is "$(summary "$q" .profiler_config.seed)" 1
rm -rf "$q"

# --- kill -9 at random instants, then resume: the records of an uninterrupted run
profile --dataset "$work/q.jsonl" "${none[@]}" --overwrite --concurrency 4 >/dev/null
rows "$q" | jq -cS '[.request.index, .problem, .model_answers["fake-model"], .request.status]' | sort >"$work/whole"
rm -rf "$q"
for k in $(seq 12); do
    behind --dataset "$work/q.jsonl" "${none[@]}" --resume --concurrency 4
    sleep "0.$((RANDOM % 7))$((RANDOM % 10))"
    kill -9 $run 2>/dev/null
    wait $run 2>/dev/null
done
profile --dataset "$work/q.jsonl" "${none[@]}" --resume --concurrency 4 >/dev/null
check "--resume after kill -9" [ $? = 0 ]
rows "$q" | jq -cS '[.request.index, .problem, .model_answers["fake-model"], .request.status]' | sort >"$work/pieces"
check "equals an uninterrupted run" cmp -s "$work/whole" "$work/pieces"

# --- a full disk stops the run; everything before it is intact
rm -rf "$q"
(
    trap '' XFSZ
    ulimit -f 40
    profile --dataset "$work/q.jsonl" "${quiet[@]}" --duration 60s 2>"$work/err" >/dev/null
)
check "a full disk: error" [ $? = 1 ]
check "that says so" grep -qi 'too large\|no space' "$work/err"
n=$(rows "$q" 2>/dev/null | wc -l)
check "what was before is intact ($n)" holds "$n > 0"
stop_server

# --- known truth: energy of every query against the exact integral
mkdir "$work/sys"
"$simpowercap" "$work/sys" 100 262144 package-0=square:60,300,1.3,0.4,0.05 dram=const:11 >"$work/sim" &
pids+=($!)
for _ in $(seq 100); do
    grep -q ready "$work/sim" && break
    sleep 0.05
done
serve --ttft 200ms --itl 20ms --tokens 30
export IPW_SYSFS_ROOT=$work/sys
profile --dataset "$work/six.jsonl" --telemetry rapl,host --idle 1s --overwrite -q --price-kwh 0.3 \
    --carbon-intensity 400 >"$work/out"
check "a run with RAPL" [ $? = 0 ]
check "measured, in plain words" grep -q 'Energy: measured (cpu)' "$work/out"
s=$(ls -d "$work"/runs/*fake_model_six)
check "the constant rail, query by query: 11 W within 1 % (median; the machine may be busy)" is "$(rows "$s" | jq -s 'map(
    (.model_metrics["fake-model"].energy_metrics.dram_per_query_joules /
     (.request.end_s - .request.sent_s) / 11 - 1) | if . < 0 then -. else . end) | sort | .[length / 2 | floor] < 0.01')" true
check "bounds hold the value" is "$(rows "$s" | jq -s 'map(.model_metrics["fake-model"] |
    .measurement.energy_low_joules <= .energy_metrics.cpu_per_query_joules and
    .energy_metrics.cpu_per_query_joules <= .measurement.energy_high_joules) | all')" true
check "prefill and decode make the whole" is "$(rows "$s" | jq -s 'map(.model_metrics["fake-model"] |
    (.phase_metrics.prefill_energy_j + .phase_metrics.decode_energy_j) /
    .energy_metrics.cpu_per_query_joules - 1 | fabs) | max < 1e-9')" true
check "cost of the energy" is "$(rows "$s" | jq -s 'map(.model_metrics["fake-model"] |
    .cost.energy_cost_usd / (.energy_metrics.cpu_per_query_joules / 3.6e6 * 0.3) - 1 | fabs) | max < 1e-9')" true
check "the parts add up to the meter" is "$(jq '.totals | (.query_joules + .idle_joules) / .joules.cpu - 1 | fabs < 1e-9' "$s/summary.json")" true
check "and the account says so" is "$(summary "$s" '.attribution.conservation_error < 1e-9')" true
check "samples are stored" is "$(jq -r '._data_files | length > 0' "$s/telemetry/state.json")" true
check "doctor's table is in the summary" is "$(summary "$s" '[.telemetry.channels[] | select(.quantity == "energy_j")] | length')" 2
profile --dataset "$work/q.jsonl" --telemetry rapl,host --idle 0 --overwrite -q --concurrency 8 >/dev/null
q=$(ls -d "$work"/runs/*fake_model_q)
check "8 at once: shared by tokens" is "$(summary "$q" .attribution.rule)" tokens
check "8 at once: the parts add up" is "$(jq '.totals | (.query_joules + .idle_joules) / .joules.cpu - 1 | fabs < 1e-9' "$q/summary.json")" true
check "without idle: said" is "$(summary "$q" '[.validity.reasons[].code] | index("no_idle") != null')" true
unset IPW_SYSFS_ROOT
stop_server

# --- open loop
serve --ttft 5ms --itl 1ms --tokens 4
profile --dataset "$work/q.jsonl" "${quiet[@]}" --overwrite --request-rate 20 >/dev/null
check "open loop" is "$(summary "$q" '.load.mode')" open
check "requested and achieved rate" is "$(summary "$q" '.load | .requested_rate == 20 and .achieved_rate > 10')" true
check "planned before sent" is "$(rows "$q" | jq -s 'map(.request.sent_s >= .request.planned_s) | all')" true
stop_server
exit $bad
