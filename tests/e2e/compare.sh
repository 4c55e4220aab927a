#!/usr/bin/env bash
# ipw compare as a person calls it, on runs whose truth is known and on what is no run.
# Usage: compare.sh IPW MAKE-RUN FOLDER-OF-FIXTURES
set -u
ipw=$(realpath "$1") make=$(realpath "$2") hf=$(realpath "$3")/hf
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

fails() { # fails STATUS PATTERN ARGUMENTS...: one line on stderr, nothing on stdout
    local status=$1 pattern=$2 got
    shift 2
    "$ipw" compare "$@" >out.txt 2>err.txt
    got=$?
    check "compare $*: exit $got, not $status" [ $got = "$status" ]
    check "compare $*: says nothing on stdout" [ ! -s out.txt ]
    check "compare $*: $(cat err.txt), not $pattern" grep -q -- "$pattern" err.txt
    check "compare $*: one line" [ "$(wc -l <err.txt)" = 1 ]
}

query() { # query FILE EXPRESSION-OF-d: is it true?
    node -e 'const d = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"));
        const row = name => d.comparisons[0].rows.find(r => r.metric === name);
        const warned = code => d.comparisons[0].warnings.some(w => w.code === code);
        process.exit(eval(process.argv[2]) === true ? 0 : 1)' "$1" "$2"
}

"$make" a --seed 1 --telemetry-seconds 0
"$make" a_r2 --seed 11 --telemetry-seconds 0
"$make" b --seed 2 --telemetry-seconds 0 --joules 50 --accuracy 0.95 --model better
"$make" c --seed 3 --telemetry-seconds 0 --estimated --failed 0.1 --hardware other
"$make" evil --telemetry-seconds 0 --hostile
"$make" killed --seed 4 --telemetry-seconds 0 --unfinished

# text: a table of eight rows per further run
"$ipw" compare a b c >text.txt || bad=1
check "two tables" [ "$(grep -c '^  metric ' text.txt)" = 2 ]
check "of eight rows" [ "$(grep -cE '(better|worse|no evidence)(, ESTIMATED)?$' text.txt)" = 16 ]
check "less energy is better" grep -qE '^  J/query .* better$' text.txt
check "an estimate is marked" grep -qE '^  J/query .*, ESTIMATED$' text.txt
check "and warned of" grep -q 'WARNING: .*ESTIMATED' text.txt
check "hardware is warned of" grep -q 'WARNING: the hardware differs: H100 against other' text.txt
check "failures are shown" grep -qE '100 queries, [1-9][0-9]* failed' text.txt
check "same input, same output" cmp -s text.txt <("$ipw" compare a b c)
check "another seed, other intervals" bash -c "! cmp -s text.txt <('$ipw' compare a b c --seed 1)"

# JSON
"$ipw" compare --json a b >b.json || bad=1
check "paired" query b.json 'd.comparisons[0].paired && d.comparisons[0].questions_common === 100'
check "rows" query b.json 'd.comparisons[0].rows.length === 8 && d.resamples === 10000'
check "energy" query b.json 'row("joules_per_query").verdict === "better"
    && row("joules_per_query").difference.high < 0
    && Math.abs(row("joules_per_query").b.value - 50) < 5'
check "IPJ" query b.json 'Math.abs(row("ipj").a.value
    - row("accuracy").a.value / row("joules_per_query").a.value) < 1e-15'
check "nothing to warn of" query b.json 'd.comparisons[0].warnings.length === 0'
"$ipw" compare --json --repeats a/ b >r.json || bad=1
check "repeats are pooled" query r.json 'd.baseline.runs === 2 && d.baseline.records === 200
    && d.baseline.questions === 100 && d.comparisons[0].run.runs === 1'
"$ipw" compare --json a a >same.json || bad=1
check "a run is like itself" query same.json \
    'd.comparisons[0].rows.every(r => r.verdict === "no evidence" && r.difference.value === 0)'
"$ipw" compare --json a evil >evil.json || bad=1
check "other questions: unpaired" query evil.json '!d.comparisons[0].paired && warned("unpaired")'
"$ipw" compare --json a killed >killed.json || bad=1
check "a killed run can be compared" query killed.json 'd.comparisons[0].paired
    && d.comparisons[0].run.verdict === null && warned("verdict")'
"$ipw" compare --json a "$hf/profile_seed" >seed.json || bad=1
check "and one of the Python tool" query seed.json '!d.comparisons[0].paired && warned("unstated")'

# words from a run drive neither a terminal nor a page
"$ipw" compare evil evil >evil.txt || bad=1
check "no control characters" bash -c "! LC_ALL=C grep -q '[[:cntrl:]]' evil.txt"
"$ipw" compare --markdown a evil >evil.md || bad=1
check "no markup" bash -c "! grep -q '<' evil.md"
check "a Markdown table" [ "$(grep -c '^| .* |$' evil.md)" = 10 ]

# mistakes
fails 2 'needs A B' a
fails 2 'exclude each other' a b --json --markdown
fails 2 'not between 100 and 100000' a b --resamples 99
fails 2 'not between' a b --seed -1
fails 2 'did you mean --repeats' a b --repeat
fails 1 'nowhere' a nowhere
fails 1 'nowhere' nowhere a
mkdir empty truncated
cp -r a/. truncated
for file in truncated/data-*.arrow; do truncate -s 3000 "$file"; done
fails 1 'empty' a empty
fails 1 'truncated' a truncated
"$ipw" compare a b >/dev/full 2>/dev/null
check "a full disk under stdout is an error" [ $? = 1 ]
exit $bad
