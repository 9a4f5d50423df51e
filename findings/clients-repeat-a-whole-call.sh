#!/usr/bin/env bash
# Seen with: opencode 1.18.33 (opencode-linux-x64-baseline), Linux x64
# Guess: an agent whose answer breaks after the whole call of a tool, which it has run meanwhile, goes on with its result.
# Seen: it asks again from the beginning without the result, and runs the tool a second time. An answer that ends in good order there,
#   without a finish_reason, has it go on with the result.
# Matters: to whoever stands between an agent and its model, and to authors of tools that are not idempotent.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund opencode-linux-x64-baseline@1.18.33
cat >see.mjs <<'JS'
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

const chunk = (delta, finish_reason = null) => `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const input = JSON.stringify({ command: 'echo x >> effect', description: 'append' });
const call = chunk({ role: 'assistant', tool_calls: [{ index: 0, id: 'call', type: 'function', function: { name: 'bash', arguments: input } }] });

/** How often the tool runs when the first answer ends so, once the tool has run. */
async function runs(how) {
  const home = join(process.cwd(), how);
  mkdirSync(join(home, 'work'), { recursive: true });
  const effect = join(home, 'work', 'effect');
  let asked = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (more) => (body += more)).on('end', async () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const isFirst = asked++ === 0;
      if (body.includes('"role":"tool"')) response.end(chunk({ content: 'done' }) + chunk({}, 'stop') + 'data: [DONE]\n\n');
      else if (!isFirst) response.end(call + chunk({}, 'tool_calls') + 'data: [DONE]\n\n');
      else {
        response.write(call);
        while (!existsSync(effect)) await new Promise((later) => setTimeout(later, 100));
        await new Promise((later) => setTimeout(later, 2000));
        if (how === 'closed') response.destroy();
        else response.end();
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const provider = {
    npm: '@ai-sdk/openai-compatible', name: 'fake',
    options: { baseURL: `http://127.0.0.1:${server.address().port}/v1`, apiKey: 'x' },
    models: { m: { name: 'm', tool_call: true, limit: { context: 100000, output: 1000 } } },
  };
  const settings = { autoupdate: false, share: 'disabled', provider: { fake: provider }, permission: { '*': 'allow' }, small_model: 'fake/m' };
  writeFileSync(join(home, 'work', 'opencode.json'), JSON.stringify(settings));
  const env = {
    PATH: process.env.PATH, HOME: home, XDG_CONFIG_HOME: join(home, 'c'), XDG_DATA_HOME: join(home, 'd'), XDG_STATE_HOME: join(home, 's'),
    XDG_CACHE_HOME: join(home, 'k'), npm_config_registry: 'http://127.0.0.1:9', OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
  };
  const program = join(process.cwd(), 'node_modules/opencode-linux-x64-baseline/bin/opencode');
  const child = spawn(program, ['run', '--title', 't', '-m', 'fake/m', 'do it'], { cwd: join(home, 'work'), env, stdio: 'ignore' });
  await once(child, 'exit');
  server.close();
  server.closeAllConnections();
  return readFileSync(effect, 'utf8').trim().split('\n').length;
}

const seen = { closed: await runs('closed'), ended: await runs('ended') };
console.log('runs of the tool:', seen);
if (seen.closed !== 2 || seen.ended !== 1) {
  console.error('This has changed.');
  process.exit(1);
}
JS
timeout 300 node see.mjs
