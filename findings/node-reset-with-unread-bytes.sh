#!/usr/bin/env bash
# Seen with: Node 20.20.2 and 24.9.0, on Linux; Node 26.9.0 tells it as a reset
# Guess: a client of Node tells a connection that its server reset from one that its server closed.
# Seen: only when it had read all that came before. A reset that arrives together with unread bytes is told as an end:
#   UND_ERR_SOCKET "other side closed" in place of ECONNRESET, in fetch.
# Matters: to whoever retries on ECONNRESET alone, such as gemini-cli 0.61.0, and to servers and tests that use resetAndDestroy() to be retried.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';

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
console.log(process.version, seen);
const atOnce = Number.parseInt(process.versions.node) < 26 ? 'UND_ERR_SOCKET' : 'ECONNRESET';
const isAsSeen = [...seen['/at-once']].join() === atOnce && [...seen['/later']].join() === 'ECONNRESET';
if (!isAsSeen) {
  console.error('This has changed.');
  process.exit(1);
}
process.exit(0);
JS
node see.mjs
