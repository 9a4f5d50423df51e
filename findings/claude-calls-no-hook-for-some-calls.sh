#!/usr/bin/env bash
# Seen with: @anthropic-ai/claude-code 2.1.332 (Linux x64)
# Guess: each call of a tool is followed by the hook PostToolUse, or PostToolUseFailure where it failed.
# Seen: an Edit whose text is not in its file has no hook at all, not even PreToolUse, and so has a tool that there is not. A command that exits with 3 has both.
# Matters: to hooks that count failures, measure tools, or release what they took before a call.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --no-audit --no-fund --loglevel=error --ignore-scripts @anthropic-ai/claude-code@2.1.332 >/dev/null
cat >probe.mjs <<'PROBE'
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';

mkdirSync('home/work', { recursive: true });
const home = `${process.cwd()}/home`;
const file = `${home}/work/a.txt`;
writeFileSync(file, 'one\n');
const calls = [
  ['Bash', { command: 'exit 3', description: 'fails' }],
  ['Read', { file_path: file }],
  ['Edit', { file_path: file, old_string: 'two', new_string: 'three' }],
  ['NoSuchTool', {}],
];
let asked = 0;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    if (request.method !== 'POST' || request.url.split('?')[0] !== '/v1/messages') return void response.writeHead(404).end();
    const number = asked++;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (type, fields) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`);
    const usage = { input_tokens: 10, output_tokens: 5 };
    const message = { id: `msg_${number}`, type: 'message', role: 'assistant', model: 'fake', content: [] };
    send('message_start', { message: { ...message, stop_reason: null, stop_sequence: null, usage } });
    const call = calls[number];
    if (call === undefined) {
      send('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
      send('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'done' } });
    } else {
      send('content_block_start', { index: 0, content_block: { type: 'tool_use', id: `toolu_${number}`, name: call[0], input: {} } });
      send('content_block_delta', { index: 0, delta: { type: 'input_json_delta', partial_json: JSON.stringify(call[1]) } });
    }
    send('content_block_stop', { index: 0 });
    send('message_delta', { delta: { stop_reason: call === undefined ? 'end_turn' : 'tool_use', stop_sequence: null }, usage });
    send('message_stop', {});
    response.end();
  });
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const log = `${home}/hooks.log`;
writeFileSync(log, '');
const hook = [{ hooks: [{ type: 'command', command: `cat >> ${log}; echo >> ${log}` }] }];
mkdirSync(`${home}/.claude`);
writeFileSync(
  `${home}/.claude/settings.json`,
  JSON.stringify({ hooks: { PreToolUse: hook, PostToolUse: hook, PostToolUseFailure: hook } }),
);
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
const program = `${process.cwd()}/node_modules/@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`;
const words = ['-p', '--output-format', 'json', '--allowedTools', 'Bash', 'Read', 'Edit', '--', 'go'];
const child = spawn(program, words, { env, cwd: `${home}/work`, stdio: 'ignore' });
await new Promise((resolve) => child.once('close', resolve));
server.close();
server.closeAllConnections();
const told = readFileSync(log, 'utf8').split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
const eventsOf = (tool) => told.filter((each) => each.tool_name === tool).map((each) => each.hook_event_name).join(' ');
const seen = Object.fromEntries(calls.map(([tool]) => [tool, eventsOf(tool)]));
console.log(seen, `${asked} requests`);
const isSo =
  seen.Bash === 'PreToolUse PostToolUseFailure' &&
  seen.Read === 'PreToolUse PostToolUse' &&
  seen.Edit === '' &&
  seen.NoSuchTool === '';
if (!isSo) {
  console.error('This has changed: see what it says above.');
  process.exit(1);
}
PROBE
node probe.mjs
