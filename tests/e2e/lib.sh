# What the end-to-end tests of runs share; to be sourced, with ipw and testserver set.
#
#     check WORDS COMMAND...     the words are said when the command fails; `exit $bad` at the end
#     serve OPTIONS...           starts a test server: sets url, server (pid) and served (its log)
#     profile OPTIONS...         ipw profile against it, into $work/runs
# shellcheck shell=bash disable=SC2034,SC2154
work=$(mktemp -d)
pids=()
cleanup() {
    [ ${#pids[@]} = 0 ] || kill "${pids[@]}" 2>/dev/null
    wait 2>/dev/null
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 143' TERM INT
bad=0
unset IPW_API_KEY OPENAI_API_KEY IPW_SYSFS_ROOT

check() {
    local words=$1
    shift
    if ! "$@"; then
        echo "FAILED: $words"
        bad=1
    fi
}
holds() { awk "BEGIN { exit !($1) }" || { echo "  not so: $1"; false; }; }
is() { [ "$1" = "$2" ] || { echo "  '$1' is not '$2'"; false; }; }

# wait_for FILE PATTERN: a program in the background is ready
wait_for() {
    for _ in $(seq 200); do
        grep -q "$2" "$1" 2>/dev/null && return 0
        sleep 0.05
    done
    echo "FAILED: no '$2' in ten seconds"
    exit 1
}
serve() {
    served=$work/served.$RANDOM
    "$testserver" --log "$served" "$@" >"$served.listening" 2>&1 &
    server=$!
    pids+=("$server")
    wait_for "$served.listening" '^listening'
    url=http://$(sed -n 's/^listening //p' "$served.listening")
}
stop_server() { kill "$server" 2>/dev/null; wait "$server" 2>/dev/null; }
profile() { "$ipw" profile --client openai --client-base-url "$url" --output-dir "$work/runs" "$@"; }
rows() { "$ipw" export "$1"; }
summary() { jq -r "$2" "$1/summary.json"; }
