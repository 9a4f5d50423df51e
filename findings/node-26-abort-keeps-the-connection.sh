#!/usr/bin/env bash
# Seen with: Node 26.9.0 (undici 8) against Node 24.9.0 (npm package `node`), and openssl, on Linux
# Guess: a `fetch` that is aborted because no answer came takes its connection with it, and the next one gets another.
# Seen: so it is up to Node 24. The `fetch` of Node 26 speaks HTTP/2 where the server does; an abort ends the stream alone, and every later
#   call goes onto the same connection, of which nobody knows any more whether somebody is at its other end.
# Matters: to clients with limits of their own: one connection that a router has forgotten makes all their calls run into the limit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost 2>/dev/null
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createSecureServer } from 'node:http2';

const asked = [];
const silent = [];
const server = createSecureServer({ key: readFileSync('key.pem'), cert: readFileSync('cert.pem'), allowHTTP1: true });
// The first answer comes, the others never do.
server.on('request', (request, response) => {
  const socket = request.httpVersion === '2.0' ? request.stream.session : request.socket;
  if (!asked.includes(socket)) asked.push(socket);
  request.resume();
  if (request.url === '/first') response.end('ok');
  else silent.push(asked.indexOf(socket));
});
server.listen(0, 'localhost');
await once(server, 'listening');

const base = `https://localhost:${server.address().port}`;
await (await fetch(`${base}/first`)).text();
const names = new Set();
for (let call = 0; call < 4; call++) {
  names.add((await fetch(`${base}/silent`, { signal: AbortSignal.timeout(500) }).catch((error) => error)).name);
}
console.log(`${[...names]}, 4 calls on ${new Set(silent).size} connections`);
process.exit(0);
JS
declare -A expected=(
  [24.9.0]='TimeoutError, 4 calls on 4 connections'
  [26.9.0]='TimeoutError, 4 calls on 1 connections'
)
changed=0
for version in 24.9.0 26.9.0; do
  npm install --silent --no-save --no-audit --no-fund --prefix "$version" "node@$version"
  seen=$(NODE_EXTRA_CA_CERTS=cert.pem "$version/node_modules/node/bin/node" see.mjs)
  echo "Node $version: $seen"
  [ "$seen" = "${expected[$version]}" ] || changed=1
done
if [ "$changed" -ne 0 ]; then
  echo 'This has changed.' >&2
  exit 1
fi
