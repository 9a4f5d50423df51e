#!/usr/bin/env bash
# Seen with: execa 9.6.1 in Deno 2.9.6 beside Node 24.21.0 and Bun 1.4.5 (npm packages), on Linux
# Guess: a package that only starts processes can be imported in a worker thread wherever it can be imported in the main one.
# Seen: in a worker of Deno the import throws: execa reads `process.channel` as it is loaded, which Deno refuses to workers. `node:child_process` alone
#   works there.
# Matters: to whoever starts commands from workers; the import fails, and not the first command.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund execa@9.6.1 deno@2.9.6 bun@1.4.5 node@24.21.0
cat >see.mjs <<'JS'
import { isMainThread, parentPort, Worker } from 'node:worker_threads';

async function load() {
  try {
    const { execa } = await import('execa');
    return (await execa('echo', ['started'])).stdout;
  } catch (error) {
    return error.code ?? error.name;
  }
}
if (isMainThread) {
  const here = await load();
  const worker = new Worker(new URL(import.meta.url));
  worker.on('message', (there) => {
    console.log(JSON.stringify({ here, there }));
    process.exit(0);
  });
} else parentPort.postMessage(await load());
JS
changed=0
see() {
  local name=$1 expected=$2
  shift 2
  seen=$("$@" see.mjs)
  echo "$name: $seen"
  [ "$seen" = "$expected" ] || changed=1
}
see Node '{"here":"started","there":"started"}' node_modules/.bin/node
see Bun '{"here":"started","there":"started"}' node_modules/.bin/bun
see Deno '{"here":"started","there":"ERR_WORKER_UNSUPPORTED_OPERATION"}' node_modules/.bin/deno run -A
if [ "$changed" -ne 0 ]; then
  echo 'This has changed.' >&2
  exit 1
fi
