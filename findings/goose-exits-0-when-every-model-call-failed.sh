#!/usr/bin/env bash
# Seen with: @aaif/goose-binary-linux-x64 1.52.0 (Linux x64)
# Guess: `goose run` exits with another code than 0 when no model call was answered, and its stream says that it failed.
# Seen: exit 0; the error is an ordinary message of the assistant, followed by `complete`. Only `metadata.inference` is missing, which an answer of the model has.
# Matters: to scripts that take exit 0, or the last message, for the answer.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @aaif/goose-binary-linux-x64@1.52.0 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';

let asked = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    asked++;
    response.writeHead(500, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
mkdirSync('home');
const env = {
  PATH: process.env.PATH,
  HOME: `${process.cwd()}/home`,
  GOOSE_PROVIDER: 'openai',
  GOOSE_MODEL: 'gpt-4o',
  GOOSE_DISABLE_KEYRING: '1',
  OPENAI_HOST: `http://127.0.0.1:${server.address().port}`,
  OPENAI_API_KEY: 'sk-fake-000000',
};
const args = ['run', '-q', '--no-session', '-t', 'do it', '--output-format', 'stream-json'];
const goose = spawn('node_modules/@aaif/goose-binary-linux-x64/bin/goose', args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
let out = '';
goose.stdout.on('data', (chunk) => (out += chunk));
const code = await new Promise((resolve) => goose.once('close', resolve));
server.close();
server.closeAllConnections();
const [{ message } = {}, end] = out.trim().split('\n').map((line) => JSON.parse(line));
const text = message?.content?.[0]?.text ?? '';
console.log(`exit ${code} after ${asked} requests, all refused; ${message?.role} says ${JSON.stringify(text.slice(0, 60))}; then ${end?.type}`);
const isOwn = message?.role === 'assistant' && text.startsWith('Ran into this error') && message.metadata?.inference === undefined;
if (code !== 0 || asked < 2 || !isOwn || end?.type !== 'complete') {
  console.error('This has changed: see what it says above.');
  process.exit(1);
}
PROBE
node probe.mjs
