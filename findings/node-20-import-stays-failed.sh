#!/usr/bin/env bash
# Seen with: Node 20.20.2, 22.23.3, 24.9.0 and 26.9.0 (npm package `node`), yaml 2.8.1, on Linux
# Guess: an `import()` that fails while the process is out of file descriptors fails by EMFILE, and works when there are some again.
# Seen: it fails as if the package were not there (ERR_MODULE_NOT_FOUND, ERR_INVALID_PACKAGE_CONFIG on 26). On 20 it goes on failing for as long as the
#   process lives; on the others the next one works.
# Matters: to a long-lived process that loads a module at its first use, and to who reads "not found" as "not installed".
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund --prefix . yaml@2.8.1
cat >see.mjs <<'JS'
import { closeSync, openSync } from 'node:fs';

const taken = [];
try {
  for (;;) taken.push(openSync('/dev/null', 'r'));
} catch {
  // All are taken.
}
const load = () => import('yaml').then(
  () => 'loaded',
  (error) => error.code ?? error.message,
);
const short = await load();
for (const file of taken) closeSync(file);
console.log(JSON.stringify({ short, enough: await load(), again: await load() }));
JS
declare -A expected=(
  [20.20.2]='{"short":"ERR_MODULE_NOT_FOUND","enough":"ERR_MODULE_NOT_FOUND","again":"ERR_MODULE_NOT_FOUND"}'
  [22.23.3]='{"short":"ERR_MODULE_NOT_FOUND","enough":"loaded","again":"loaded"}'
  [24.9.0]='{"short":"ERR_MODULE_NOT_FOUND","enough":"loaded","again":"loaded"}'
  [26.9.0]='{"short":"ERR_INVALID_PACKAGE_CONFIG","enough":"loaded","again":"loaded"}'
)
changed=0
for version in "${!expected[@]}"; do
  npm install --silent --no-save --no-audit --no-fund --prefix "$version" "node@$version"
  seen=$(ulimit -n 64 && "$version/node_modules/node/bin/node" see.mjs)
  echo "Node $version: $seen"
  [ "$seen" = "${expected[$version]}" ] || changed=1
done
if [ "$changed" -ne 0 ]; then
  echo 'This has changed.' >&2
  exit 1
fi
