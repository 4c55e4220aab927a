#!/bin/sh
# check_writer.sh JSONL_TO_ARROW FIXTURES: exit 77, which is "skipped", without node or packages.
here=$(dirname "$0")
if ! command -v node >/dev/null; then
    echo "skipped: no node"
    exit 77
fi
if [ ! -d "$here/node_modules/apache-arrow" ]; then
    echo "skipped: run 'npm ci' in tests/e2e/arrow first"
    exit 77
fi
exec node "$here/check_writer.mjs" "$@"
