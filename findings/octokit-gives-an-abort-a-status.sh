#!/usr/bin/env bash
# Seen with: @octokit/request 10.0.16, Node 20.20.2
# Guess: an error of octokit with a `status` was answered by the server with that status.
# Seen: where no answer came before the caller's own signal ran out, the error has status 500, and no `response`.
# Matters: to whoever decides by the status: this 500 is none of the server, which may have done what was asked for.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @octokit/request@10.0.16
cat >see.mjs <<'JS'
import { once } from 'node:events';
import { createServer } from 'node:http';
import { request } from '@octokit/request';

// Takes requests and never answers.
const server = createServer(() => {});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const { port } = server.address();
const options = { baseUrl: `http://127.0.0.1:${port}`, request: { signal: AbortSignal.timeout(300) } };
const failure = await request('POST /', options).catch((error) => error);
console.log(`${failure.name} ${failure.status}, ${failure.response === undefined ? 'no response' : 'a response'}: ${failure.message}`);
process.exit(0);
JS
seen=$(node see.mjs 2>&1)
echo "$seen"
if [ "$seen" != 'HttpError 500, no response: The operation was aborted due to timeout' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
