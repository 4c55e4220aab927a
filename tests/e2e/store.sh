#!/usr/bin/env bash
# ipw export and ipw validate as a person calls them, on runs written by the HuggingFace library.
# Usage: store.sh IPW FOLDER-OF-FAKES FOLDER-OF-FIXTURES
set -u
ipw=$1 hf=$3/hf
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

# every golden input and profile comes out as its known rows
for name in input_3shards input_basic input_ipw_shape input_types input_zstd; do
    "$ipw" export -q "$hf/$name" -o "$work/$name.jsonl" || bad=1
    check "$name has its known rows" cmp -s "$work/$name.jsonl" "$hf/$name.jsonl"
done
for name in profile_1row profile_nogpu profile_seed; do
    "$ipw" export -q "$hf/$name" >"$work/$name.jsonl" || bad=1
    check "$name has its known rows" node -e '
        const [a, b] = process.argv.slice(1).map(f => require("fs").readFileSync(f, "utf8")
            .trimEnd().split("\n").map(line => JSON.stringify(JSON.parse(line))).join("\n"));
        process.exit(a === b ? 0 : 1)' "$work/$name.jsonl" "$hf/$name.jsonl"
    "$ipw" validate "$hf/$name" >"$work/validate.txt"
    check "$name is sound" [ $? = 0 ]
    check "and said to be" grep -q ': sound$' "$work/validate.txt"
done

# csv: a header with dotted names, one line a row, nulls empty, quotes doubled
"$ipw" export -q --format csv "$hf/profile_seed" >"$work/seed.csv"
check "csv header" grep -q '^"problem","answer","dataset_metadata.problem"' "$work/seed.csv"
check "csv columns are the same in every row" node -e '
    const text = require("fs").readFileSync(process.argv[1], "utf8"), rows = [];
    let field = "", row = [], quoted = false;
    for (let i = 0; i < text.length; i++) {
        const c = text[i];
        if (quoted) { if (c !== "\"") field += c; else if (text[i + 1] === "\"") { field += c; i++; } else quoted = false; }
        else if (c === "\"") quoted = true;
        else if (c === ",") { row.push(field); field = ""; }
        else if (c === "\n") { row.push(field.replace(/\r$/, "")); rows.push(row); row = []; field = ""; }
        else field += c;
    }
    const golden = require("fs").readFileSync(process.argv[2], "utf8").trimEnd().split("\n").map(JSON.parse);
    const at = name => rows[0].indexOf(name);
    const good = rows.length === golden.length + 1 && rows.every(r => r.length === rows[0].length) &&
        golden.every((g, i) => rows[i + 1][at("problem")] === g.problem &&
            rows[i + 1][at("model_answers.llama3.2:1b")] === g.model_answers["llama3.2:1b"] &&
            rows[i + 1][at("dataset_metadata.tags")] === JSON.stringify(g.dataset_metadata.tags) &&
            rows[i + 1][at("dataset_metadata.level")] === (g.dataset_metadata.level === null ? "" : String(g.dataset_metadata.level)));
    process.exit(good ? 0 : 1)' "$work/seed.csv" "$hf/profile_seed.jsonl"

# what is unsound is said, with exit status 1
unsound() { # unsound WORDS PATTERN: in $work/run
    "$ipw" validate "$work/run" >"$work/validate.txt"
    check "$1: exit 1" [ $? = 1 ]
    check "$1: $(tr '\n' '|' <"$work/validate.txt")" grep -q -- "$2" "$work/validate.txt"
}
fresh() { rm -rf "$work/run"; cp -r "$hf/profile_seed" "$work/run"; chmod -R u+w "$work/run"; }
fresh; rm "$work/run/summary.json"
unsound "no summary" 'no summary.json'
fresh; sed -i 's/"total_queries": 4/"total_queries": 5/' "$work/run/summary.json"
unsound "wrong count" 'says 5 queries, there are 4 records'
fresh; truncate -s -100 "$work/run/data-00000-of-00001.arrow"
unsound "cut file" 'data-00000-of-00001.arrow: byte'
fresh; sed -i 's/"problem": {/"broblem": {/' "$work/run/dataset_info.json"
unsound "other features" 'features do not match'
fresh; echo '{' >"$work/run/state.json"
unsound "broken state" 'state.json'
"$ipw" validate "$work/nothing" >"$work/validate.txt"
check "no directory" [ $? = 1 ]
fresh; "$ipw" validate --json "$work/run" | node -e '
    const v = JSON.parse(require("fs").readFileSync(0, "utf8"));
    process.exit(v.sound === true && v.records === 4 ? 0 : 1)'
check "validate --json" [ $? = 0 ]
"$ipw" export "$work/nothing" 2>"$work/err"
check "export of nothing" [ $? = 1 ]
check "names it" grep -q nothing "$work/err"
"$ipw" export -q "$hf/profile_seed" -o /dev/full 2>"$work/err"
check "a full disk is an error" [ $? = 1 ]
exit $bad
