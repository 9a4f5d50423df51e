#!/usr/bin/env bash
# Seen with: Node 20.20.2, 22.23.3, 24.9.0 and 26.9.0 (npm package `node`), on Linux
# Guess: a body in chunks that ends without its last chunk is an error to `fetch`, on every Node, and the same one.
# Seen: where the server said `connection: close` it is a body like any other on 20 and on 24: half an answer is whole. On 22 and 26 it is an
#   error, by two codes. A body without any length that ends in a reset is whole on all of them.
# Matters: to whoever takes "the body could be read" for "the answer is all there", and to who looked on one version of Node.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:net';

const heads = {
  '/chunked': 'transfer-encoding: chunked\r\nconnection: close\r\n\r\n4\r\nhalf\r\n',
  '/no-length': 'connection: close\r\n\r\nhalf',
};
const server = createServer((socket) => {
  socket.on('error', () => {});
  socket.once('data', (request) => {
    const [, path] = String(request).split(' ');
    socket.write(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n${heads[path]}`);
    // Late enough to be read before.
    setTimeout(() => (path === '/chunked' ? socket.end() : socket.resetAndDestroy()), 300);
  });
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');

const seen = {};
for (const path of Object.keys(heads)) {
  try {
    seen[path] = await (await fetch(`http://127.0.0.1:${server.address().port}${path}`)).text();
  } catch (error) {
    seen[path] = error.cause?.code ?? error.cause?.name ?? error.message;
  }
}
console.log(JSON.stringify(seen));
process.exit(0);
JS
declare -A expected=(
  [20.20.2]='{"/chunked":"half","/no-length":"half"}'
  [22.23.3]='{"/chunked":"HPE_INVALID_EOF_STATE","/no-length":"half"}'
  [24.9.0]='{"/chunked":"half","/no-length":"half"}'
  [26.9.0]='{"/chunked":"HTTPParserError","/no-length":"half"}'
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
