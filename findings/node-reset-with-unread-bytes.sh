#!/usr/bin/env bash
# Seen with: Node 20.20.2, 24.9.0, 26.9.0 and undici 7.16.0, on Linux
# Guess: a client of Node tells a connection that its server reset from one that its server closed.
# Seen: only when it had read all that came before. A reset that arrives together with unread bytes is told as an end:
#   UND_ERR_SOCKET "other side closed" in place of ECONNRESET, in fetch and undici alike.
# Matters: to whoever retries on ECONNRESET alone, such as gemini-cli 0.61.0, and to servers and tests that use resetAndDestroy() to be retried.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund undici@7.16.0
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { fetch as undiciFetch } from 'undici';

const server = createServer(({ url }, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  // The callback comes when the bytes have been handed to the system, not when they have been read.
  response.write('data: hello\n\n', () => setTimeout(() => response.socket.resetAndDestroy(), url === '/at-once' ? 0 : 500));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const seen = { '/at-once': new Set(), '/later': new Set() };
for (const [path, codes] of Object.entries(seen)) {
  for (const get of [fetch, undiciFetch]) {
    try {
      const { body } = await get(`http://127.0.0.1:${server.address().port}${path}`);
      // A reader that is busy when the bytes come, as any is now and then.
      const until = performance.now() + 50;
      while (path === '/at-once' && performance.now() < until);
      for await (const _ of body);
      codes.add('no error');
    } catch (error) {
      codes.add(error.cause?.code);
    }
  }
}
console.log(process.version, seen);
const isAsSeen = !seen['/at-once'].has('ECONNRESET') && [...seen['/later']].join() === 'ECONNRESET';
if (!isAsSeen) {
  console.error('This has changed.');
  process.exit(1);
}
process.exit(0);
JS
node see.mjs
