#!/usr/bin/env bash
# Seen with: @portkey-ai/gateway 1.15.2 of npm, @hono/node-server 1.14.0, Node 22.23.3
# Guess: with `use_retry_after_header` a 429 that says `retry-after: 3` is tried again after 3 s.
# Seen: it is tried again after 1 s, as without the option. The gateway sets its waits to what the header says by a third argument
#   that its repository patches into async-retry; the package has no such patch, and its own postinstall finds none.
# Matters: to whoever runs the npm package before an API that limits: it asks again too early, and spends its attempts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{ "private": true, "overrides": { "@hono/node-server": "1.14.0" } }' >package.json
npm install --silent --no-audit --no-fund @portkey-ai/gateway@1.15.2
# npm may leave out install scripts: the postinstall of the package.
(cd node_modules/@portkey-ai/gateway && node ../../patch-package/index.js)
cat >see.mjs <<'JS'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';

let asked = [];
const upstream = createServer((request, response) => {
  request.resume().on('end', () => {
    asked.push(performance.now());
    const head = { 'content-type': 'application/json', 'retry-after': '3' };
    if (asked.length === 1) response.writeHead(429, head).end('{"error":{"message":"later","type":"rate_limit"}}');
    else response.writeHead(200, head).end('{"id":"1","object":"chat.completion","choices":[]}');
  });
});
upstream.listen(0, '127.0.0.1');
await once(upstream, 'listening');
const free = createServer().listen(0, '127.0.0.1');
await once(free, 'listening');
const { port } = free.address();
await new Promise((resolve) => free.close(resolve));

const program = 'node_modules/@portkey-ai/gateway/build/start-server.js';
const env = { ...process.env, TRUSTED_CUSTOM_HOSTS: '127.0.0.1' };
const gateway = spawn(process.execPath, [program, `--port=${port}`, '--headless'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
process.once('exit', () => gateway.kill('SIGKILL'));
for await (const chunk of gateway.stdout) if (/Ready for connections/.test(String(chunk))) break;

for (const option of [{}, { use_retry_after_header: true }]) {
  asked = [];
  const config = {
    provider: 'openai',
    api_key: 'none',
    custom_host: `http://127.0.0.1:${upstream.address().port}/v1`,
    retry: { attempts: 2, ...option },
  };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-portkey-config': JSON.stringify(config) },
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });
  await answer.text();
  console.log(`${JSON.stringify(option)} ${answer.status}: asked again after ${Math.floor((asked[1] - asked[0]) / 1000)} s`);
}
process.exit(0);
JS
seen=$(node see.mjs)
echo "$seen"
if [ "$seen" != '{} 200: asked again after 1 s
{"use_retry_after_header":true} 200: asked again after 1 s' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
