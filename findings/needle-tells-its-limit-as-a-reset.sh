#!/usr/bin/env bash
# Seen with: needle 3.5.0, Node 20.20.2
# Guess: a client whose own `response_timeout` ran out says so, by ETIMEDOUT or a word of time, as axios, got, ky and superagent do.
# Seen: needle fails with ECONNRESET and "socket hang up": what Node says of a connection that its server closed.
# Matters: to whoever repeats after a reset at once: the server may be at work on the request, and nothing was wrong with the network.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund needle@3.5.0
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import needle from 'needle';

// Takes requests and never answers.
const server = createServer(() => {});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const failure = await needle('post', `http://127.0.0.1:${port}/`, {}, { response_timeout: 300 }).catch((error) => error);
console.log(`${failure.code}: ${failure.message}`);
process.exit(0);
JS
seen=$(node see.mjs 2>&1)
echo "$seen"
if [ "$seen" != 'ECONNRESET: socket hang up' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
