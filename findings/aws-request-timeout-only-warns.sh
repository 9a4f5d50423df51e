#!/usr/bin/env bash
# Seen with: @smithy/node-http-handler 4.14.2 (of AWS SDK v3), Node 20.20.2
# Guess: a request without an answer fails when `requestTimeout` is over.
# Seen: it warns, and goes on waiting: the limit takes effect with `throwOnRequestTimeout: true` alone.
# Matters: to whoever sets `requestTimeout` so that no call hangs.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @smithy/node-http-handler@4.14.2 @smithy/protocol-http@5.6.2
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { HttpRequest } from '@smithy/protocol-http';

// Takes requests and never answers.
const server = createServer(() => {});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const request = new HttpRequest({ hostname: '127.0.0.1', port, protocol: 'http:', method: 'POST', path: '/' });
console.warn = () => {};
for (const throwOnRequestTimeout of [false, true]) {
  const handler = new NodeHttpHandler({ requestTimeout: 300, throwOnRequestTimeout, logger: console });
  const ended = handler.handle(request).catch((error) => error.name);
  const waited = new Promise((resolve) => setTimeout(resolve, 3000, 'still waiting after ten times the limit'));
  console.log(`throwOnRequestTimeout ${throwOnRequestTimeout}: ${await Promise.race([ended, waited])}`);
}
process.exit(0);
JS
seen=$(node see.mjs 2>&1)
echo "$seen"
if [ "$seen" != 'throwOnRequestTimeout false: still waiting after ten times the limit
throwOnRequestTimeout true: TimeoutError' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
