import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { faultyModelApi } from '../../testing/index.ts';
import { fixture } from '../cli/startRun.ts';
import { setup } from '../globalSetup.ts';
import { commandLine, installed } from '../proxy/mcp/conformance/ways.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { callsServer, responds, startFakeOpenai } from './fakeOpenai.ts';
import { findAgents, nodeOf } from './fire/agents.ts';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const { found } = findAgents(modules);
const busy = 'trigger-long-running-operation';
/** Longer than its client waits, and shorter than it waits twice. */
const long = { duration: 8, steps: 1 };
const limitS = 5;

function startHome() {
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  for (const path of [cwd, join(home, 'tmp')]) mkdirSync(path);
  const heard = join(home, 'heard');
  const server = {
    ...commandLine('through the proxy', ['--import', fixture('mcpSpy.mjs'), installed('everything')]),
    env: { MCP_SPY: heard, UNWEDGE_DB: join(home, 'mcp.sqlite') },
  };
  const env = {
    PATH: `${dirname(nodeOf(modules))}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
  };
  const calls = () =>
    readFileSync(heard, 'utf8')
      .split('\n')
      .filter((line) => line.includes(`"name":"${busy}"`));
  return { home, cwd, server, env, calls };
}

const wordsOf = (name: string) => found.find((agent) => agent.name === name);
const [claude, codex] = [wordsOf('claude -p'), wordsOf('codex exec')];

describe('a tool that takes longer than its client waits', () => {
  beforeAll(setup);

  it.skipIf(claude === undefined)(
    '[R-18] runs once for the real claude, which asks twice and gets its answer',
    async () => {
      const { home, cwd, server, env, calls } = startHome();
      const tool = { name: `mcp__ev__${busy}`, input: long };
      const api = await faultyModelApi(({ body }) => {
        const results = body.split('"type":"tool_result"').length - 1;
        return !body.includes(tool.name) || results > 1 ? { text: 'Done.' } : { text: 'I try.', tool };
      });
      onTestFinished(() => api.close());
      const file = join(home, 'mcp.json');
      writeFileSync(file, JSON.stringify({ mcpServers: { ev: server } }));
      const own = ['-p', 'do it', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__ev'];
      const [command, ...words] = [...(claude?.words ?? []), ...own, '--mcp-config', file, '--strict-mcp-config'];
      const agentEnv = { ...env, ...claude?.env({ home, cwd, url: api.url }), MCP_TOOL_TIMEOUT: `${limitS * 1000}` };
      await execa(command, words, { cwd, env: agentEnv, extendEnv: false, stdin: 'ignore' });
      const last = api.requests.findLast(({ body }) => body.includes('"tool_result"'))?.body;
      expect(last).toContain(`timed out after ${limitS}s`);
      expect(last).toMatch(/Long running operation completed.*Not called again: the same call was made/);
      expect(calls()).toHaveLength(1);
    },
  );

  it.skipIf(codex === undefined)(
    '[R-18] runs once for the real codex, which asks twice and gets its answer',
    async () => {
      const { home, cwd, server, env, calls } = startHome();
      const call = callsServer('ev', busy.replaceAll('-', '_'), long);
      const api = await startFakeOpenai([call, call, responds('done')]);
      onTestFinished(() => api.close());
      const agentEnv = { ...env, ...codex?.env({ home, cwd, url: api.url.replace(/\/v1$/, '') }) };
      const table = [
        ...['[mcp_servers.ev]', `command = "${server.command}"`, `args = ${JSON.stringify(server.args)}`],
        ...[`env = { MCP_SPY = "${server.env.MCP_SPY}", UNWEDGE_DB = "${server.env.UNWEDGE_DB}" }`],
        `tool_timeout_sec = ${limitS}\n`,
      ];
      appendFileSync(join(home, '.codex', 'config.toml'), table.join('\n'));
      const own = ['exec', '--json', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'do it'];
      const [command = '', ...words] = [...(codex?.words ?? []), ...own];
      await execa(command, words, { cwd, env: agentEnv, extendEnv: false, stdin: 'ignore' });
      const last = api.requests.at(-1);
      expect(last).toContain(`timed out awaiting tools/call after ${limitS}s`);
      expect(last).toMatch(/Long running operation completed.*Not called again: the same call was made/);
      expect(calls()).toHaveLength(1);
    },
  );
});
