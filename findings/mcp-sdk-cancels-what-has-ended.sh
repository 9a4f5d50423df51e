#!/usr/bin/env bash
# Seen with: @modelcontextprotocol/sdk 1.32.2; @modelcontextprotocol/client 2.4.0 cancels once; Node 20 and 24, Linux x64
# Guess: a client sends notifications/cancelled for a request that has no answer yet, and once.
# Seen: it listens to the caller's signal after the request has ended: an abort then cancels a request that was answered, and one that timed out a second time,
#   with another reason. opencode 1.18.33 aborts at the end of each call, so each of its timeouts is cancelled twice.
# Matters: to servers and proxies that tell by the reason whether a person or a limit ended a call, and to whoever uses an id again.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2
cat >see.mjs <<'JS'
import { Client } from '@modelcontextprotocol/sdk/client/index.js';

const cancelled = [];
const transport = {
  start: async () => undefined,
  close: async () => undefined,
  async send({ id, method, params }) {
    if (method === 'notifications/cancelled') cancelled.push([params.requestId, params.reason]);
    const info = { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 's', version: '1' } };
    if (method === 'initialize') this.onmessage({ jsonrpc: '2.0', id, result: info });
    // The second call has no answer.
    if (method === 'tools/call' && params.name === 'quick') this.onmessage({ jsonrpc: '2.0', id, result: { content: [] } });
  },
};
const client = new Client({ name: 'c', version: '1' });
await client.connect(transport);
for (const name of ['quick', 'slow']) {
  const controller = new AbortController();
  await client.callTool({ name }, undefined, { signal: controller.signal, timeout: 100 }).catch(() => undefined);
  controller.abort();
  await new Promise((later) => setTimeout(later, 50));
}
console.log(cancelled);
if (cancelled.length !== 3 || cancelled.filter(([id]) => id === 1).length !== 1) {
  console.error('This has changed.');
  process.exit(1);
}
JS
node see.mjs
