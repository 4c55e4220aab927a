#!/usr/bin/env bash
# ipw analyze as a person calls it, on a run of the Python tool and on ones of ours.
# Usage: analyze.sh IPW MAKE-RUN FOLDER-OF-FIXTURES FOLDER-OF-THE-ARROW-READER
set -u
ipw=$1 make_run=$2 fixtures=$3 arrow=$4
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# a run of the Python tool: text as that tool prints it, scores in the records, still sound
cp -r "$fixtures/hf/profile_seed" "$work/seed"
"$ipw" analyze "$work/seed" --scorer numeric >"$work/out.txt" 2>"$work/err.txt"
check "exit status" [ $? = 0 ]
check "nothing on stderr" [ ! -s "$work/err.txt" ]
check "Analysis:" grep -q '^Analysis: accuracy$' "$work/out.txt"
check "Summary:" grep -q '^Summary:$' "$work/out.txt"
check "its lines" grep -q '^  correct: 1$' "$work/out.txt"
check "Warnings:" grep -q '^Warnings:$' "$work/out.txt"
check "Artifacts:" grep -q "^  accuracy: $work/seed/analysis/accuracy.json\$" "$work/out.txt"
check "Data only with --verbose" [ "$(grep -c '^Data:' "$work/out.txt")" = 0 ]
"$ipw" analyze "$work/seed" -v | grep -q '^Data:$' || { echo "FAILED: --verbose"; bad=1; }
"$ipw" validate "$work/seed" >"$work/validate.txt"
check "it is sound" [ $? = 0 ]
check "scores are in the records" [ "$("$ipw" export -q "$work/seed" | grep -c '"scorer":"numeric"')" = 4 ]
check "one is right" [ "$("$ipw" export -q "$work/seed" | grep -c '"lm_correctness":true')" = 1 ]

# the same by a reader that is not ours
if [ -d "$arrow/node_modules" ]; then
    (cd "$arrow" && node read_arrow.mjs "$work"/seed/data-*.arrow) >"$work/npm.jsonl"
    check "npm's apache-arrow reads what was written back" \
        [ "$(grep -c '"scorer":"numeric"' "$work/npm.jsonl")" = 4 ]
fi

# --json: one document and nothing else, whose figures follow from each other
"$make_run" "$work/run" --records 300 --failed 0.1 --telemetry-seconds 0 >/dev/null
"$ipw" analyze "$work/run" --json >"$work/accuracy.json"
check "figures follow from each other" node -e '
    const d = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")), s = d.summary;
    const near = (a, b) => Math.abs(a - b) < 1e-12 * Math.abs(b);
    const [low, high] = s.intelligence_per_joule_interval;
    process.exit(d.analysis === "accuracy" && s.total_queries === 300 &&
        s.correct + s.incorrect + s.unevaluated + s.failed === 300 && s.failed_queries > 10 &&
        near(s.accuracy, s.correct / s.total_scored) &&
        near(s.intelligence_per_joule, s.accuracy / s.avg_per_query_energy_joules) &&
        near(s.intelligence_per_watt, s.accuracy / s.avg_per_query_power_watts) &&
        near(s.joules_per_correct, s.total_joules / s.correct) &&
        low < s.intelligence_per_joule && s.intelligence_per_joule < high &&
        d.artifacts.accuracy.endsWith("/analysis/accuracy.json") ? 0 : 1)' "$work/accuracy.json"
"$ipw" analyze "$work/run" --analysis regression --json >"$work/regression.json"
check "the lines are those of the truth" node -e '
    const d = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")), r = d.data.regressions;
    process.exit(Object.keys(r).length === 5 && r.total_tokens_vs_energy.r2 > 0.5 &&
        r.total_tokens_vs_energy.slope_se > 0 ? 0 : 1)' "$work/regression.json"
"$ipw" analyze "$work/run" --analysis phases >"$work/phases.txt" 2>&1
check "phases" [ $? = 0 ] && check "its figures" grep -q '^  prefill_joules_per_token: ' "$work/phases.txt"

# killed in the middle, again and again: always a run, and in the end all is scored
"$make_run" "$work/killed" --records 4000 --unscored --telemetry-seconds 0 >/dev/null
for delay in 0.02 0.04 0.06 0.08 0.1 0.15 0.2 0.3; do
    { timeout -s KILL $delay "$ipw" analyze "$work/killed" --scorer numeric; } >/dev/null 2>&1
    check "loadable after a kill" [ "$("$ipw" export -q "$work/killed" 2>/dev/null | wc -l)" = 4000 ]
done
"$ipw" analyze "$work/killed" --scorer numeric >"$work/out.txt"
check "all are scored" grep -q '^  total_scored: 4000$' "$work/out.txt"

# mistakes
expect() { # expect STATUS PATTERN ARGUMENTS...
    local status=$1 pattern=$2 err
    shift 2
    err=$("$ipw" analyze "$@" 2>&1 >/dev/null)
    if [ $? != "$status" ] || ! printf '%s' "$err" | grep -q -- "$pattern"; then
        echo "FAILED: ipw analyze $*: wanted exit $status, $pattern; stderr: $err"
        bad=1
    fi
}
expect 2 'needs DIR'
expect 2 "unknown analysis 'regresion': did you mean 'regression'?" "$work/run" --analysis regresion
expect 2 "unknown analysis 'x' (there are: accuracy, regression, phases)" "$work/run" --analysis x
expect 1 '/nowhere' "$work/nowhere"
expect 2 "has no option 'modl': did you mean 'model'" "$work/run" --option modl=x
expect 1 "there are:" "$work/run" --option model=other
expect 2 "unknown scorer" "$work/run" --scorer nummeric
check "ipw list knows them" [ "$("$ipw" list analyses | grep -cE '^  (accuracy|regression|phases) ')" = 3 ]
exit $bad
