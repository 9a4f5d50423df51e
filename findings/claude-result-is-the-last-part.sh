#!/usr/bin/env bash
# Seen with: @anthropic-ai/claude-code 2.1.332 (Linux x64)
# Guess: `claude -p --output-format json` prints the whole answer as `result`, or an error.
# Seen: where the connection breaks behind a finished text, Claude asks for what follows it, and `result` holds that alone, with exit 0.
# Matters: to scripts that take `result` for the answer; `stream-json` has all parts, with a message of its own between them.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @anthropic-ai/claude-code@2.1.332 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';

let asked = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method !== 'POST' || request.url.split('?')[0] !== '/v1/messages') return void response.writeHead(404).end();
    const number = ++asked;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'fake', content: [] };
    send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
    send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
    send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: number === 1 ? 'first half, ' : 'second half.' } });
    send('content_block_stop', { index: 0 });
    if (number === 1) return void setTimeout(() => response.socket.destroy(), 200);
    send('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage });
    send('message_stop', {});
    response.end();
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
mkdirSync('home');
const home = `${process.cwd()}/home`;
const env = {
  PATH: process.env.PATH,
  HOME: home,
  TMPDIR: home,
  ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  ANTHROPIC_API_KEY: 'sk-ant-fake-000',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_AUTOUPDATER: '1',
};
const program = `node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;
const child = spawn(program, ['-p', 'go', '--output-format', 'json'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
let out = '';
child.stdout.on('data', (chunk) => (out += chunk));
const code = await new Promise((resolve) => child.once('close', resolve));
server.close();
server.closeAllConnections();
const { result, is_error: isError } = JSON.parse(out);
console.log(`exit ${code}, is_error ${isError}, result ${JSON.stringify(result)}, ${asked} requests`);
if (code !== 0 || isError !== false || result !== 'second half.') {
  console.error('This has changed: see what it says above.');
  process.exit(1);
}
PROBE
node probe.mjs
