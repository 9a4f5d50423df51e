#!/usr/bin/env bash
# Seen with: @google/gemini-cli 0.61.0 (Node 24.21.0)
# Guess: an exit code of 128+n tells that a signal ended the program, and a model call that was refused gives 1.
# Seen: the exit code is the HTTP status modulo 256: 400 gives 144, 401 gives 145, as SIGSTKFLT and SIGCHLD would, and no signal was there.
# Matters: to supervisors that restart what "a signal" ended, and to scripts that tell kinds of failures by the exit code.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error node@24.21.0 >/dev/null
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @google/gemini-cli@0.61.0 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

let status = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    const error = { code: status, message: 'no', status: 'REFUSED' };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error }));
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const home = `${process.cwd()}/home`;
mkdirSync(`${home}/.gemini`, { recursive: true });
const settings = { security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } };
writeFileSync(`${home}/.gemini/settings.json`, JSON.stringify(settings));
const env = {
  PATH: process.env.PATH,
  HOME: home,
  GEMINI_API_KEY: 'fake-000000',
  GOOGLE_GEMINI_BASE_URL: `http://127.0.0.1:${server.address().port}`,
  GEMINI_CLI_NO_RELAUNCH: 'true',
};
const program = 'node_modules/@google/gemini-cli/bundle/gemini.js';
const args = [program, '-p', 'do it', '--skip-trust', '-m', 'gemini-2.5-flash', '-o', 'stream-json'];
const ends = [];
for (status of [400, 401]) {
  const child = spawn('node_modules/.bin/node', args, { env, stdio: 'ignore' });
  const [code, signal] = await new Promise((resolve) => child.once('close', (...end) => resolve(end)));
  ends.push({ status, code, signal });
  console.log(`HTTP ${status}: exit ${code}, signal ${signal}`);
}
server.close();
server.closeAllConnections();
if (ends.some(({ status, code, signal }) => code !== status % 256 || signal !== null)) {
  console.error('This has changed: see what it says above.');
  process.exit(1);
}
PROBE
node probe.mjs
