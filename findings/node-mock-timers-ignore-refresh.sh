#!/usr/bin/env bash
# Seen with: Node 22.23.3, 24.9.0 and 26.9.0 (npm package `node`)
# Guess: a timer of `mock.timers` of node:test that is refreshed before it is due fires later, as every timer of Node does.
# Seen: it fires when it was due at first. Nor does `performance.now()` move with `tick`.
# Matters: to tests under node:test of code that bounds silence by `timer.refresh()`, as undici and many servers do: it looks as if a limit took
#   no notice of signs of life.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >see.mjs <<'JS'
import { mock } from 'node:test';

mock.timers.enable({ apis: ['setTimeout', 'Date'] });
let fired;
let now = 0;
const before = performance.now();
const timer = setTimeout(() => (fired = now), 100);
for (const refreshes of [true, false, false]) {
  now += 60;
  mock.timers.tick(60);
  if (refreshes) timer.refresh();
}
const moved = performance.now() - before >= 180;
console.log(`refreshed at 60 of 100 ms, fired by ${fired}; performance.now() ${moved ? 'moved' : 'stood still'}`);
JS
changed=0
for version in 22.23.3 24.9.0 26.9.0; do
  npm install --silent --no-save --no-audit --no-fund --prefix "$version" "node@$version"
  seen=$("$version/node_modules/node/bin/node" see.mjs 2>/dev/null)
  echo "Node $version: $seen"
  [ "$seen" = 'refreshed at 60 of 100 ms, fired by 120; performance.now() stood still' ] || changed=1
done
if [ "$changed" -ne 0 ]; then
  echo 'This has changed.' >&2
  exit 1
fi
