#!/usr/bin/env bash
# Seen with: @agentclientprotocol/codex-acp 2.6.0 (Node 24.21.0)
# Guess: a prompt whose model request was refused (HTTP 400) is answered with a JSON-RPC error, as the Agent Client Protocol has no stop reason for a failure.
# Seen: the answer is `stopReason: "end_turn"`; the error is text of the agent, and `session_info_update` has `_meta.codex.threadStatus.type: "systemError"`.
# Matters: to editors and supervisors that take `end_turn` for success, and retry or fall back on errors alone.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
PATH="$folder/node_modules/.bin:$PATH" npm install --no-audit --no-fund --loglevel=error --ignore-scripts @agentclientprotocol/codex-acp@2.6.0 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const error = { type: 'invalid_request_error', message: 'no' };
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const home = `${process.cwd()}/home`;
mkdirSync(home);
writeFileSync(
  `${home}/config.toml`,
  `model = "m"\nmodel_provider = "fake"\n[model_providers.fake]\nname = "fake"\nbase_url = "http://127.0.0.1:${server.address().port}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n`,
);
const folder = 'node_modules/@agentclientprotocol/codex-acp';
const { bin } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
const program = `${folder}/${typeof bin === 'string' ? bin : Object.values(bin)[0]}`;
const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, FAKE_KEY: 'fake-000000' };
const agent = spawn('node_modules/.bin/node', [program], { env, stdio: ['pipe', 'pipe', 'ignore'] });
const answers = new Map();
let failed = false;
createInterface({ input: agent.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) answers.get(message.id)?.(message);
  if (message.params?.update?._meta?.codex?.threadStatus?.type === 'systemError') failed = true;
});
const ask = (id, method, params) =>
  new Promise((resolve) => {
    answers.set(id, resolve);
    agent.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  });
await ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
const { result } = await ask(2, 'session/new', { cwd: process.cwd(), mcpServers: [] });
const prompt = [{ type: 'text', text: 'hello' }];
const end = await ask(3, 'session/prompt', { sessionId: result.sessionId, prompt });
console.log(`refused with 400: ${JSON.stringify(end.result ?? end.error)}, systemError told: ${failed}`);
const over = new Promise((resolve) => agent.once('close', resolve));
agent.stdin.end();
await over;
server.close();
server.closeAllConnections();
if (end.result?.stopReason !== 'end_turn' || !failed) {
  console.error('This has changed: see what it says above.');
  process.exit(1);
}
process.exit(0);
PROBE
node probe.mjs
