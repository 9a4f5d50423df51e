#!/usr/bin/env bash
# Seen with: @modelcontextprotocol/client 2.4.0, Node 20.20.2
# Guess: a server of protocol version 2026-07-28 whose `tools/list` says nothing of caching has tools that are good for now.
# Seen: the official client refuses the whole list: without `ttlMs` and `cacheScope` it is an invalid result. With both it is taken.
# Matters: to servers, and to what stands in front of them: one missing field of a hint, and a client sees no tool.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm install --silent --no-audit --no-fund @modelcontextprotocol/client@2.4.0
cat >see.mjs <<'JS'
import { Client } from '@modelcontextprotocol/client';

const version = '2026-07-28';
const about = { resultType: 'complete', _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'a', version: '1' } } };
const tools = [{ name: 'find', inputSchema: { type: 'object' } }];

/** Asks a server in this process for its tools. */
async function ask(caching) {
  const results = {
    'server/discover': { ...about, supportedVersions: [version], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' },
    'tools/list': { ...about, tools, ...caching },
  };
  const transport = {
    start: async () => {},
    close: async () => {},
    async send({ id, method }) {
      if (id !== undefined) queueMicrotask(() => transport.onmessage?.({ jsonrpc: '2.0', id, result: results[method] }));
    },
  };
  const client = new Client({ name: 'see', version: '1' }, { versionNegotiation: { mode: { pin: version } } });
  await client.connect(transport);
  try {
    return (await client.listTools()).tools.map(({ name }) => name).join();
  } catch (error) {
    return `refused: ${/ttlMs/.test(error.message + JSON.stringify(error.issues ?? error.data ?? '')) ? 'ttlMs' : error.message}`;
  }
}

console.log(`without: ${await ask({})}; with: ${await ask({ ttlMs: 0, cacheScope: 'private' })}`);
process.exit(0);
JS
seen=$(node see.mjs)
echo "$seen"
if [ "$seen" != 'without: refused: ttlMs; with: find' ]; then
  echo 'This has changed.' >&2
  exit 1
fi
