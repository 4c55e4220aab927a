#!/usr/bin/env bash
# ipw plot as a person calls it.
# Usage: plot.sh IPW MAKE-RUN
set -u
ipw=$(realpath "$1") make_run=$(realpath "$2")
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

same() { [ "$1" = "$2" ] || { echo "$1"; echo "instead of: $2"; return 1; }; }

"$make_run" a --records 30 || exit 1
"$make_run" b/a --records 30 --model other --joules 500 --concurrency 2 || exit 1
"$make_run" bare --records 5 --no-energy --unscored || exit 1

# one run: every figure that has data, in its own folder; the rest named with the reason
"$ipw" plot a >out.txt 2>err.txt
check "exit status" [ $? = 0 ]
check "paths" same "$(cat out.txt)" "a/plots/ttft.png
a/plots/latency.png
a/plots/energy.png
a/plots/power.png
a/plots/output_kde.png
a/plots/power_trace.png
a/plots/latency_cdf.png
a/plots/energy_per_token.png
a/plots/accuracy_by_subject.png"
check "what is left out is named" grep -q 'no figure sweep: it compares runs' err.txt
while read -r path; do
    check "$path is a PNG" same "$(head -c 8 "$path" | od -An -tx1 | tr -d ' ')" 89504e470d0a1a0a
done <out.txt
"$ipw" plot -q a >/dev/null 2>err.txt
check "--quiet" [ ! -s err.txt ]

# a run without energy
"$ipw" plot bare >out.txt 2>err.txt
check "exit status" [ $? = 0 ]
check "only what it has" same "$(tr '\n' ' ' <out.txt)" \
    "bare/plots/ttft.png bare/plots/latency.png bare/plots/output_kde.png bare/plots/latency_cdf.png "
check "the reason" grep -q 'no figure energy of bare: no query has both tokens and an energy' err.txt

# figures by name, the Python tool's spellings, formats, folders
"$ipw" plot a --visualization regression --format svg --output new/folder >out.txt
check "regression is four figures" same "$(tr '\n' ' ' <out.txt)" \
    "new/folder/ttft.svg new/folder/latency.svg new/folder/energy.svg new/folder/power.svg "
check "an SVG" grep -q '<svg ' new/folder/ttft.svg
"$ipw" plot a -v ttft,latency_cdf --format pdf --dark -o pdf >out.txt
check "two figures" same "$(tr '\n' ' ' <out.txt)" "pdf/ttft.pdf pdf/latency_cdf.pdf "
check "a PDF" same "$(head -c 5 pdf/ttft.pdf)" "%PDF-"
cp new/folder/ttft.svg first.svg
"$ipw" plot a --plot ttft --format svg --output new/folder >/dev/null
check "the same bytes again" cmp -s first.svg new/folder/ttft.svg

# several runs: folders of their own, also when they are called alike; figures of all in the first
"$ipw" plot -q a b/a --plot ttft,efficiency_frontier,sweep >out.txt
check "folders" same "$(tr '\n' ' ' <out.txt)" \
    "a/plots/ttft.png b/a/plots/ttft.png a/plots/efficiency_frontier.png a/plots/sweep.png "
"$ipw" plot -q a b/a bare --plot ttft,sweep -o all >out.txt
check "below --output" same "$(tr '\n' ' ' <out.txt)" \
    "all/a-1/ttft.png all/a-2/ttft.png all/bare/ttft.png all/sweep.png "

# --json: one document
"$ipw" plot a bare --plot energy,ttft --json >out.json 2>/dev/null
check "JSON" node -e '
    const d = JSON.parse(require("fs").readFileSync("out.json", "utf8"));
    const paths = d.figures.map(f => f.path).join(" ");
    process.exit(paths === "a/plots/energy.png a/plots/ttft.png bare/plots/ttft.png" &&
        d.figures[0].plot === "energy" && d.figures[0].runs.join() === "a" &&
        d.skipped.length === 1 && d.skipped[0].plot === "energy" && d.skipped[0].run === "bare" &&
        d.skipped[0].reason.includes("no query has both") ? 0 : 1)'

# mistakes
fails() { # fails STATUS PATTERN ARGUMENTS...
    local status=$1 pattern=$2 got
    shift 2
    "$ipw" plot "$@" >out.txt 2>err.txt
    got=$?
    check "ipw plot $*: exit $got, not $status" [ $got = "$status" ]
    check "ipw plot $*: $(cat err.txt)" grep -q -- "$pattern" err.txt
    check "ipw plot $* prints nothing" [ ! -s out.txt ]
}
fails 2 "did you mean 'power_trace'" a --plot powertrace
fails 2 'names no figure' a --plot ,
fails 2 'gif' a --format gif
fails 2 'DIR' --plot ttft
fails 1 'nowhere' nowhere
fails 1 'nothing to draw' bare --plot energy
fails 1 'give at least two' a --plot sweep
: >file
fails 1 'file' a --plot ttft --output file
exit $bad
