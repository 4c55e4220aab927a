#!/usr/bin/env bash
# ipw analyze with a judge, as a person calls it: a run whose answers no rule can score, judged by a
# second server.
# Usage: judge.sh IPW TESTSERVER
set -u
ipw=$1 testserver=$2
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
unset IPW_EVAL_API_KEY
asked() { grep -c '"path":"/v1/chat/completions"' "$served"; }
judged() { jq -r ".judge.$1" "$run/analysis/accuracy.json"; }
summary() { jq -r ".summary.$1" "$run/analysis/accuracy.json"; }
analyze() { "$ipw" analyze "$run" "$@" >"$work/out" 2>"$work/err"; }

# --- a run of more answers than wait for a judge at a time
rows=1300
for i in $(seq $rows); do
    echo "{\"question\": \"Who was number $i?\", \"answer\": \"Ada\", \"scorer\": \"judge:simpleqa\"}"
done >"$work/people.jsonl"
serve --ttft 0ms --itl 0ms --answer "It was Ada." --model m
"$ipw" profile --client openai --client-base-url "$url" --output-dir "$work/runs" --dataset \
    "$work/people.jsonl" --telemetry none --idle 0 --warmup-queries 0 --concurrency 32 -q >/dev/null 2>&1
check "the run" is $? 0
run=$(echo "$work"/runs/profile_*)

analyze
check "without a judge it is an analysis all the same" is $? 0
check "it is said how to name one" grep -q "$rows answers are not scored: .*--judge-model" "$work/out"
check "nothing was scored" is "$(summary accuracy)" null

analyze --judge-base-url "$url"
check "a judge has a model" is $? 2
check "and it is said" grep -q -- "--judge-base-url needs --judge-model" "$work/err"
analyze --judge-model x --judge-base-url ftp://x
check "a URL that is none" is $? 1

# --- Ctrl-C: what was judged stays judged
serve --ttft 20ms --answer "TRUE" --model judge-model
env --default-signal=INT "$ipw" analyze "$run" --judge-model judge-model --judge-base-url "$url" \
    --json >"$work/out" 2>"$work/err" &
analysis=$!
for _ in $(seq 200); do
    [ "$(asked)" -gt 20 ] && break
    sleep 0.05
done
kill -INT $analysis
wait $analysis
check "interrupted, and saved" is $? 130
some=$(summary correct)
check "some were judged" [ "$some" -gt 0 ]
check "not all" [ "$some" -lt $rows ]
check "the rest is unscored" is "$(summary unscored)" $((rows - some))
check "the document on stdout is the one that is kept" is \
    "$(jq -c .judge "$work/out")" "$(jq -c .judge "$run/analysis/accuracy.json")"

# --- kill -9: the verdicts are in the file beside the rows
before=$(asked)
"$ipw" analyze "$run" --judge-model judge-model --judge-base-url "$url" >/dev/null 2>&1 &
analysis=$!
for _ in $(seq 200); do
    [ "$(asked)" -gt $((before + 20)) ] && break
    sleep 0.05
done
kill -KILL $analysis
wait $analysis 2>/dev/null
kept=$(grep -c '"verdict":"correct"' "$run/analysis/judgements.jsonl")
check "more are kept than are in the rows" [ "$kept" -gt "$some" ]
check "no row is lost" is "$("$ipw" export -q "$run" | wc -l)" $rows

# --- the rest, by a server that fails now and then
kill $server
serve --ttft 1ms --answer "FALSE" --model judge-model --fault status:503 --fault-rate 0.05
IPW_EVAL_API_KEY=sk-secret-of-mine analyze --judge-model judge-model --judge-base-url "$url" \
    --judge-concurrency 16 --judge-retries 9 --judge-param temperature=0
check "the rest is judged" is $? 0
check "every answer has a verdict" is "$(summary total_scored)" $rows
check "those of before among them" is "$(summary correct)" "$kept"
check "known ones were not asked" is "$(judged reused)" $((kept - some))
check "the others were" is "$(($(judged correct) + $(judged wrong)))" $((rows - kept))
check "tokens of the judge" is "$(judged output_tokens)" $((rows - kept))
check "the judge is in the text" grep -q "^Judge:" "$work/out"
check "the parameter arrived" grep -q '"temperature":0' "$served"
check "the key arrived" grep -q '"authorization":"Bearer sk-secret-of-mine"' "$served"
check "and is nowhere else" [ -z "$(grep -r sk-secret-of-mine "$run" "$work/out" "$work/err")" ]
check "rows carry the verdict" is \
    "$("$ipw" export -q "$run" | jq -r '.model_metrics[].evaluation.scorer' | sort -u)" judge:simpleqa
check "accuracy of the run has nothing of the judge's time" is \
    "$(jq 'has("judge")' "$run/summary.json")" false
check "no row is lost at the end" is "$("$ipw" export -q "$run" | wc -l)" $rows

before=$(asked)
analyze --judge-model judge-model --judge-base-url "$url"
check "nothing left to ask" is "$(asked)" "$before"

exit $bad
