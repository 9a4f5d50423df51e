#!/usr/bin/env bash
# Seen with: @openai/codex 0.171.0 (Linux)
# Guess: `turn/interrupt` of `codex app-server` ends the command that the turn runs.
# Seen: it answers, the turn is `interrupted`, and the command runs on to its effect. Without `experimentalApi` its list of terminals is refused.
# Matters: to clients that take an interrupted turn for work that has stopped.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @openai/codex@0.171.0 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';

const command = 'sleep 3; echo done > effect; sleep 600';
const events = [
  { type: 'response.created', response: { id: 'r' } },
  {
    type: 'response.output_item.done',
    item: { type: 'function_call', name: 'exec_command', call_id: 'call_1', arguments: JSON.stringify({ cmd: command }) },
  },
  { type: 'response.completed', response: { id: 'r', usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } } },
];
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method !== 'POST') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
mkdirSync('home/work', { recursive: true });
const home = `${process.cwd()}/home`;
writeFileSync(
  `${home}/config.toml`,
  `model = "fake-model"
model_provider = "fake"
[analytics]
enabled = false
[model_providers.fake]
name = "fake"
base_url = "http://127.0.0.1:${server.address().port}/v1"
wire_api = "responses"
env_key = "FAKE_KEY"
`,
);
const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, TMPDIR: home, FAKE_KEY: 'x' };
const codex = spawn('node_modules/.bin/codex', ['app-server'], { env, stdio: ['pipe', 'pipe', 'ignore'], detached: true });
const answers = new Map();
let seen = () => undefined;
createInterface({ input: codex.stdout }).on('line', (line) => {
  const message = JSON.parse(line);
  if (message.method === undefined) answers.get(message.id)?.(message);
  else seen(message);
});
let last = 0;
const ask = (method, params) =>
  new Promise((resolve) => {
    answers.set(++last, resolve);
    codex.stdin.write(`${JSON.stringify({ id: last, method, params })}\n`);
  });
const next = (passes) => new Promise((resolve) => (seen = (message) => passes(message) && resolve(message)));
const clientInfo = { name: 'probe', title: 'Probe', version: '0.0.1' };
await ask('initialize', { clientInfo, capabilities: { experimentalApi: false, requestAttestation: false } });
codex.stdin.write('{"method":"initialized"}\n');
const started = await ask('thread/start', { cwd: `${home}/work`, approvalPolicy: 'never', sandbox: 'danger-full-access' });
const threadId = started.result.thread.id;
const runs = next(({ method, params }) => method === 'item/started' && params.item.type === 'commandExecution');
const turn = await ask('turn/start', { threadId, input: [{ type: 'text', text: 'go', text_elements: [] }] });
await runs;
const ended = next(({ method }) => method === 'turn/completed');
await ask('turn/interrupt', { threadId, turnId: turn.result.turn.id });
const { status } = (await ended).params.turn;
await new Promise((resolve) => setTimeout(resolve, 6000));
const list = await ask('thread/backgroundTerminals/list', { threadId });
const hadEffect = existsSync(`${home}/work/effect`);
console.log(`the turn is ${status}; the command ${hadEffect ? 'went on to its effect' : 'was ended'}; ${list.error?.message ?? 'its terminals are listed'}`);
process.kill(-codex.pid, 'SIGTERM');
await new Promise((resolve) => codex.once('exit', resolve));
server.close();
server.closeAllConnections();
if (status !== 'interrupted' || !hadEffect || list.error === undefined) {
  console.error('This has changed: see what it says above.');
  process.exit(1);
}
process.exit(0);
PROBE
node probe.mjs
