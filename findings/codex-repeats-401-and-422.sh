#!/usr/bin/env bash
# Seen with: @openai/codex 0.166.0 (Linux)
# Guess: an answer that says no for good (401, 403, 404, 422) ends a turn, as 400 does.
# Seen: `codex exec` makes the request 6 times for each of them, and once for 400.
# Matters: to whoever refuses a request of an agent so that it is not made again: of these 400 alone is final.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error @openai/codex@0.166.0 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
const bin = `${process.cwd()}/node_modules/.bin/codex`;
/** Requests that `codex exec` makes of a provider that answers each with this status. */
async function asked(status) {
  let count = 0;
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.method !== 'POST') return void response.writeHead(404).end();
      count++;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: { type: 'invalid_request_error', message: 'refused' } }));
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const home = `${process.cwd()}/home-${status}`;
  mkdirSync(`${home}/work`, { recursive: true });
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
  const codex = spawn(bin, ['exec', '--json', '--skip-git-repo-check', 'hello'], { cwd: `${home}/work`, env, stdio: 'ignore' });
  await new Promise((resolve) => codex.on('exit', resolve));
  server.close();
  return count;
}
const statuses = [400, 401, 403, 404, 422];
const counts = await Promise.all(statuses.map(asked));
console.log(Object.fromEntries(statuses.map((status, index) => [status, counts[index]])));
const isSo = counts.every((count, index) => (statuses[index] === 400 ? count === 1 : count > 1));
if (!isSo) {
  console.error('That is no longer so.');
  process.exit(1);
}
process.exit(0);
PROBE
node probe.mjs
