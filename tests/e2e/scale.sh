#!/usr/bin/env bash
# Ten thousand queries take no more memory than one thousand, and every one is a record.
# Usage: scale.sh IPW TESTSERVER
set -u
ipw=$1 testserver=$2
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

serve --ttft 1ms --itl 1ms --tokens 4
# ask N: sets run and memory
ask() {
    rm -rf "$work/runs"
    profile --dataset ipw --duration 600s --max-queries "$1" --concurrency 16 --warmup-queries 0 \
        --idle 0 --telemetry estimate,host -q >"$work/out"
    check "$1 queries" [ $? = 0 ]
    run=$(ls -d "$work"/runs/profile_*)
    memory=$(summary "$run" .overhead.peak_memory_bytes)
    check "$1 records" is "$(rows "$run" | wc -l)" "$1"
}
ask 1000
small=$memory
ask 10000
check "every query once" is "$(rows "$run" | jq .request.index | sort -n | uniq | wc -l)" 10000
check "none failed" is "$(summary "$run" .totals.failed)" 0
check "the whole dataset, again and again" holds \
    "$(rows "$run" | jq -c .problem | sort -u | wc -l) == 812"
echo "peak memory: $small bytes for 1000 queries, $memory for 10000"
check "memory is flat" holds "$memory <= 1.5 * $small"
check "the directory is sound" is "$("$ipw" validate --json "$run" | jq '[.findings[] | select(.kind == "problem")] | length')" 0
exit $bad
