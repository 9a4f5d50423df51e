#!/usr/bin/env bash
# Seen with: Node 20.20.2, 22.23.3 and 24.9.0, on Linux; Node 26.9.0 tells it as a reset
# Guess: a client of Node tells a connection that its server reset from one that its server closed.
# Seen: only when it had read all that came before. A reset that arrives together with unread bytes is told as an end:
#   UND_ERR_SOCKET "other side closed" in place of ECONNRESET, in fetch. A body without a length is whole then. The socket itself can tell: at its
#   `end` a connection that was reset has no `remoteAddress`, where nobody asked for it before; one that was closed has.
# Matters: to whoever retries on ECONNRESET alone, such as gemini-cli 0.61.0, and to servers and tests that use resetAndDestroy() to be retried.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createRaw } from 'node:net';

const server = createServer(({ url }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const reset = () => response.socket.resetAndDestroy();
  // The callback comes when the bytes have been handed to the system, not when they have been read. Client and server share a thread: nothing is read before `reset` returns.
  response.write('data: hello\n\n', url === '/at-once' ? reset : () => setTimeout(reset, 500));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const seen = { '/at-once': new Set(), '/later': new Set() };
for (const [path, codes] of Object.entries(seen)) {
  for (let time = 0; time < 5; time++) {
    try {
      for await (const _ of (await fetch(`http://127.0.0.1:${server.address().port}${path}`)).body);
      codes.add('no error');
    } catch (error) {
      codes.add(error.cause?.code);
    }
  }
}

const raw = createRaw((socket) => {
  socket.once('data', (bytes) => {
    socket.write('hello');
    if (String(bytes) === 'reset') socket.resetAndDestroy();
    else socket.end();
  });
});
raw.listen(0, '127.0.0.1');
await once(raw, 'listening');
const ends = {};
for (const how of ['close', 'reset']) {
  const socket = connect(raw.address().port, '127.0.0.1', () => socket.write(how)).resume();
  ends[how] = await new Promise((resolve) => {
    socket.on('end', () => resolve(`end, other side ${socket.remoteAddress}`)).on('error', ({ code }) => resolve(code));
  });
}
const list = (codes) => [...codes].join();
console.log(JSON.stringify([list(seen['/at-once']), list(seen['/later']), ends.close, ends.reset]));
process.exit(0);
JS
told='["UND_ERR_SOCKET","ECONNRESET","end, other side 127.0.0.1","end, other side undefined"]'
declare -A expected=(
  [20.20.2]="$told"
  [22.23.3]="$told"
  [24.9.0]="$told"
  [26.9.0]='["ECONNRESET","ECONNRESET","end, other side 127.0.0.1","ECONNRESET"]'
)
changed=0
for version in "${!expected[@]}"; do
  npm install --silent --no-save --no-audit --no-fund --prefix "$version" "node@$version"
  seen=$("$version/node_modules/node/bin/node" see.mjs)
  echo "Node $version: $seen"
  [ "$seen" = "${expected[$version]}" ] || changed=1
done
if [ "$changed" -ne 0 ]; then
  echo 'This has changed.' >&2
  exit 1
fi
