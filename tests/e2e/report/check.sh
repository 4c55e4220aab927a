#!/usr/bin/env bash
# ipw report in a real browser, at phone and desktop width, light and dark, with and without script.
# Usage: check.sh IPW MAKE-RUN
set -eu
ipw=$(realpath "$1") make_run=$2
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$make_run" "$work/plain" --records 60 --failed 0.1 --reason gap
"$make_run" "$work/hostile" --records 40 --failed 0.1 --hostile
"$make_run" "$work/estimated" --records 30 --estimated --no-gpu --model tiny
"$make_run" "$work/none" --records 20 --no-energy
"$make_run" "$work/large" --records 10000 --concurrency 8
for name in plain hostile estimated none large; do
    "$ipw" report -q "$work/$name" -o "$work/$name.html"
done
"$ipw" report -q "$work/plain" "$work/hostile" "$work/estimated" -o "$work/several.html"

# where the page goes
fail() { echo "FAILED: $*"; exit 1; }
"$ipw" report -q "$work/plain"
cmp -s "$work/plain/report.html" "$work/plain.html" || fail "the default is report.html in the run"
"$ipw" report -q -o - "$work/plain" | cmp -s - "$work/plain.html" || fail "-o - is stdout"
(cd "$work" && "$ipw" report -q plain none && [ -s report.html ]) || fail "of several: ./report.html"
! "$ipw" report -q "$work/absent" 2>"$work/words" || fail "a run that is not there must be an error"
[ "$(wc -l <"$work/words")" = 1 ] || fail "an error is one line: $(cat "$work/words")"
! "$ipw" report -q -o - "$work/plain" >/dev/full 2>/dev/null || fail "a full disk must be an error"

node "$here/check.mjs" "$work"
