#!/usr/bin/env bash
# Seen with: Deno 2.9.6 and Bun 1.4.5 (npm packages `deno`, `bun`) beside Node 24.21.0, on Linux
# Guess: where `process.stdin` is a pipe whose writer ends, all three tell `end` and then `close`, and count the bytes that were read.
# Seen: Deno tells `end` alone. Neither Bun (0) nor Deno (undefined) counts `bytesRead`; `readableDidRead` is right on all three.
# Matters: to a process that ends what it guards once its parent is gone, and waits for `close`; and to a server that asks by `bytesRead` whether
#   any client has spoken.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund deno@2.9.6 bun@1.4.5 node@24.21.0
cat >see.mjs <<'JS'
const told = [];
for (const event of ['end', 'close']) process.stdin.on(event, () => told.push(event));
process.stdin.resume();
setTimeout(() => {
  const { bytesRead, readableDidRead } = process.stdin;
  console.log(JSON.stringify({ told, bytesRead, readableDidRead }));
}, 1500);
JS
changed=0
see() {
  local name=$1 expected=$2
  shift 2
  seen=$(printf 'abc' | "$@" see.mjs)
  echo "$name: $seen"
  [ "$seen" = "$expected" ] || changed=1
}
see Node '{"told":["end","close"],"bytesRead":3,"readableDidRead":true}' node_modules/.bin/node
see Bun '{"told":["end","close"],"bytesRead":0,"readableDidRead":true}' node_modules/.bin/bun
see Deno '{"told":["end"],"readableDidRead":true}' node_modules/.bin/deno run -A
if [ "$changed" -ne 0 ]; then
  echo 'This has changed.' >&2
  exit 1
fi
