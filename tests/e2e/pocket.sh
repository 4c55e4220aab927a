#!/usr/bin/env bash
# ipw serve-pocket as a person uses it: every route with curl, its errors, its memory and its end.
# Usage: pocket.sh IPW FOLDER-OF-FAKES FOLDER-OF-FIXTURES
set -u
ipw=$1
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"

serve() { # serve OPTIONS...: sets pid and url
    "$ipw" serve-pocket "$@" 2>"$work/log" &
    pid=$!
    pids+=("$pid")
    for _ in $(seq 200); do
        url=$(sed -n 's/^ipw: listening on //p' "$work/log")
        [ -n "$url" ] && return
        sleep 0.05
    done
    echo "FAILED: no server: $(cat "$work/log")"
    exit 1
}

stop() { # stop SIGNAL: it must end by itself, as success
    kill "-$1" $pid
    wait $pid
    check "exit 0 after SIG$1" [ $? = 0 ]
    pid=
}

# ask STATUS PATTERN PATH CURL-OPTIONS...: the answer is in $work/body
ask() {
    local status=$1 pattern=$2 path=$3 got
    shift 3
    got=$(curl -sS -m 30 -o "$work/body" -w '%{http_code}' "$@" "$url$path")
    if [ "$got" != "$status" ] || ! grep -q -- "$pattern" "$work/body"; then
        echo "FAILED: $path $*: $got, wanted $status and $pattern: $(head -c 600 "$work/body")"
        bad=1
    fi
}

is_json() { node -e 'JSON.parse(require("fs").readFileSync(process.argv[1], "utf8"))' "$work/body"; }
field() { node -e 'console.log(eval("JSON.parse(require(\"fs\").readFileSync(process.argv[1], \"utf8\"))." + process.argv[2]))' "$work/body" "$1"; }

serve --listen 127.0.0.1:0 --threads 2
check "it listens on loopback" [ "${url%:*}" = http://127.0.0.1 ]
check "and has nothing to warn of" [ "$(grep -c '' "$work/log")" = 1 ]

ask 200 '"id":"pocket"' /v1/models
check "models are JSON" is_json
ask 200 '"name":"pocket:latest"' /api/tags
check "tags are JSON" is_json
ask 200 "\"version\":\"$("$ipw" --version | cut -d' ' -f2)\"" /api/version

prompt='{"model":"pocket","prompt":"What is 2+3?","max_tokens":12,"seed":7,"temperature":0.8'
ask 200 '"finish_reason":"' /v1/completions -d "$prompt}"
text=$(field choices[0].text)
check "usage adds up" [ "$(field usage.total_tokens)" = $(($(field usage.prompt_tokens) + $(field usage.completion_tokens))) ]
check "the prompt's tokens are its characters" [ "$(field usage.prompt_tokens)" = 12 ]
ask 200 '^data: \[DONE\]$' /v1/completions -d "$prompt,\"stream\":true}"
check "the stream says the same" [ "$(node -e '
    const events = require("fs").readFileSync(process.argv[1], "utf8").split("\n\n").filter(e => e && !e.endsWith("[DONE]"));
    console.log(events.map(e => JSON.parse(e.slice(6)).choices[0].text).join(""))' "$work/body")" = "$text" ]

chat='{"model":"pocket","messages":[{"role":"user","content":"What is 2+3?"}]'
ask 200 '"role":"assistant"' /v1/chat/completions -d "$chat}"
greedy=$(field choices[0].message.content)
ask 200 '"usage":{"prompt_tokens":12' /v1/chat/completions -H 'Content-Type: application/json' \
    -d "$chat,\"stream\":true,\"stream_options\":{\"include_usage\":true}}"
ask 200 '"done":true' /api/chat -d "$chat,\"stream\":false}"
check "both protocols give the same answer" [ "$(field message.content)" = "$greedy" ]
ask 200 '"done":true,"done_reason":"' /api/chat -d "$chat}"
check "the stream is one object a line, with the same text" [ "$(node -e '
    const lines = require("fs").readFileSync(process.argv[1], "utf8").trimEnd().split("\n").map(l => JSON.parse(l));
    console.log(lines.map(l => l.message.content).join(""))' "$work/body")" = "$greedy" ]
ask 200 '"response":"","done":true,"done_reason":"load"}' /api/generate -d '{"model":"pocket"}'
ask 200 '"eval_count":[0-3],' /api/generate \
    -d '{"model":"pocket","prompt":"x","stream":false,"options":{"num_predict":3,"temperature":0}}'

# profiled from inside and over both protocols, the answers are the same
for i in $(seq 12); do
    echo "{\"question\": \"What is $i + 1?\", \"answer\": \"$((i + 1))\"}"
done >"$work/q.jsonl"
profile() { # profile NAME OPTIONS...: the answers go to $work/NAME.answers
    local name=$1
    shift
    "$ipw" profile -q --output-dir "$work/$name" --dataset "$work/q.jsonl" --model pocket \
        --telemetry none --idle 0 --warmup-queries 1 --concurrency 4 --param max_tokens=20 \
        --dataset-param problem=question "$@" >"$work/out" 2>&1
    check "profile $name ends well" [ $? = 0 ]
    "$ipw" export "$work/$name"/* | jq -c '[.problem, .model_answers.pocket,
        .model_metrics.pocket.token_metrics.output, .request.finish_reason]' | sort >"$work/$name.answers"
    check "profile $name has 12 answers" [ "$(grep -c '"\(stop\|length\)"' "$work/$name.answers")" = 12 ]
}
profile inside --client pocket --client-param threads=2
for client in openai ollama; do
    profile $client --client $client --client-base-url "$url"
    check "$client gets the same answers" cmp -s "$work/inside.answers" "$work/$client.answers"
done

ask 404 '"error":{"message":"there is no /v2 here' /v2
ask 404 '"error":"model .llama. not found' /api/generate -d '{"model":"llama","prompt":"x"}'
ask 405 '"error":{"message":"/v1/models is not for DELETE"' /v1/models -X DELETE
ask 400 '"error":"the body: not JSON' /api/chat -d '{"model":'
ask 400 '"code":"context_length_exceeded"' /v1/completions \
    -d "{\"model\":\"pocket\",\"prompt\":\"$(head -c 5000 /dev/zero | tr '\0' a)\"}"
head -c 10485760 /dev/zero >"$work/zeros"
ask 413 '"error":{"message":"the request is larger' /v1/completions --data-binary "@$work/zeros"
ask 413 '"error":"the request is larger' /api/chat -H 'Transfer-Encoding: chunked' --data-binary "@$work/zeros"

# clients that go away in the middle of an answer, and a first token that comes at once
for _ in $(seq 50); do
    curl -sN "$url/v1/completions" -d '{"model":"pocket","prompt":"x","temperature":1,"max_tokens":-1,"stream":true}' 2>/dev/null |
        head -c 1 >/dev/null
done
ask 200 '"id":"pocket"' /v1/models
first=$(curl -sS -m 30 -o /dev/null -w '%{time_starttransfer}' "$url/v1/completions" -d "$prompt}")
check "an answer within 500 ms: $first" awk "BEGIN { exit !($first < 0.5) }"
peak=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status)
check "memory below 32 MiB: $peak KiB" [ "$peak" -lt 32768 ]
echo "peak memory $peak KiB"
stop TERM

# what cannot be had is said
"$ipw" serve-pocket --listen 8000 2>"$work/log"
check "no address: exit 2" [ $? = 2 ]
check "and words" grep -q "'8000' is not HOST:PORT" "$work/log"
"$ipw" serve-pocket --threads 4000 2>"$work/log"
check "too many threads: exit 2" [ $? = 2 ]
serve --listen 0.0.0.0:0
check "a warning beyond loopback" grep -q 'ipw: warning: anyone who can reach this machine' "$work/log"
"$ipw" serve-pocket --listen "${url#http://}" 2>"$work/log2"
check "a port in use: exit 1" [ $? = 1 ]
check "and its reason" grep -q 'Address already in use' "$work/log2"
url=http://127.0.0.1:${url##*:}
curl -sN -m 30 "$url/api/generate" -d '{"model":"pocket","prompt":"x","options":{"num_predict":-1,"temperature":1}}' >/dev/null 2>&1 &
stop INT # in the middle of an answer, perhaps
wait
exit $bad
