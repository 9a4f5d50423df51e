import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { onTestFinished } from 'vitest';
import { runBuilt } from '../cli/startCli.ts';
import { fixture } from '../cli/startRun.ts';
import { installed } from '../proxy/mcp/conformance/ways.ts';
import { claudePath } from './claudeEnv.ts';
import { codexPath } from './codexEnv.ts';
import { callsTool, says } from './fakeAnthropic.ts';
import { callsServer, responds, startFakeOpenai } from './fakeOpenai.ts';
import { startRealClaude } from './startRealClaude.ts';

/** The tool that both agents call. */
export const busy = 'trigger-long-running-operation';
/** So long that it can be asked about while it runs, in either attempt. */
const long = { duration: 6, steps: 1 };

/** Servers as a person has them; the first one tells what it hears. */
export function threeServers(home: string) {
  const node = process.execPath;
  return {
    ev: {
      type: 'stdio',
      command: node,
      args: ['--import', fixture('mcpSpy.mjs'), installed('everything')],
      env: { MCP_SPY: join(home, 'heard') },
    },
    files: { command: node, args: [installed('filesystem'), home] },
    mem: { command: node, args: [installed('memory')], env: { MEMORY_FILE_PATH: join(home, 'memory.json') } },
  };
}

/** The built command line in that home. */
export const unwedge = (home: string, ...words: string[]) =>
  runBuilt(words, { HOME: home, PATH: process.env['PATH'] ?? '', CODEX_HOME: join(home, '.codex') });

/** The same servers as a person may write them for Codex: comments, lines that end as those of Windows, none at the end. */
function codexText(home: string, url: string): string {
  const { ev, files, mem } = threeServers(home);
  return [
    'model = "fake-model" # mine',
    'model_provider = "fake"',
    'analytics.enabled = false',
    `model_providers.fake = { name = "fake", base_url = "${url}", wire_api = "responses", env_key = "FAKE_KEY" }`,
    '[mcp_servers.ev] # everything',
    `command = '${ev.command}' # node`,
    `args = [ # its words`,
    ...ev.args.map((word) => `  '${word}', # one`),
    ']',
    `env = { MCP_SPY = "${ev.env.MCP_SPY}" }`,
    '[mcp_servers]',
    `files = { command = '${files.command}', args = ${JSON.stringify(files.args)} }`,
    '[mcp_servers.mem]',
    `command = "${mem.command}"`,
    `args = ['${mem.args[0]}']`,
    `env.MEMORY_FILE_PATH = "${mem.env.MEMORY_FILE_PATH}"`,
    '[[hooks.Stop]]',
    `hooks = [{ type = "command", command = "true" }]`,
  ].join('\r\n');
}

const claudeText = (home: string): string =>
  `${JSON.stringify({ hasCompletedOnboarding: true, mcpServers: threeServers(home) }, null, 2)}\n`;

/** A hook that keeps what it was given, and the shell that ran it. */
const settingsText = (log: string): string =>
  `{"hooks": {"PreToolUse": [ {"matcher":"Bash", "hooks": [
      { "type": "command", "command": "cat > '${log}'; echo \\"it's $0\\" >> '${log}'", "timeout": 20 } ] } ]}}`;

/** A home with both agents, as each is configured by hand. */
export async function startBothAgents() {
  const claudeScript = [callsTool(`mcp__ev__${busy}`, long), callsTool('Bash', { command: 'true' }), says('done')];
  const args = ['-p', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__ev', 'Bash'];
  const { home, cwd, env, claude, upstream } = await startRealClaude(claudeScript, { args });
  const openai = await startFakeOpenai([callsServer('ev', busy.replaceAll('-', '_'), long), responds('done')]);
  onTestFinished(() => openai.close());
  const log = join(home, 'hook-log');
  const texts: Readonly<Record<string, string>> = {
    '.claude.json': claudeText(home),
    '.claude/settings.json': settingsText(log),
    '.codex/config.toml': codexText(home, openai.url),
  };
  for (const [name, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  const start = (path: string, words: readonly string[], more: Record<string, string> = {}) =>
    execa(path, words, { cwd, env: { ...env, ...more }, extendEnv: false, reject: false, input: '' });
  return {
    home,
    texts,
    log,
    heardByClaude: () => JSON.stringify(upstream.requests.at(-1)?.body.messages),
    heardByCodex: () => openai.requests.at(-1),
    promptClaude: () => claude.call({ prompt: 'do it' }, { maxAttempts: 1 }),
    startClaude: (...words: string[]) => start(claudePath, words),
    startCodex: (...words: string[]) => start(codexPath, words, { CODEX_HOME: join(home, '.codex'), FAKE_KEY: 'x' }),
    read: () => Object.fromEntries(Object.keys(texts).map((name) => [name, readFileSync(join(home, name), 'utf8')])),
    /** All that lies there, so that a new file shows too. */
    list: () => readdirSync(home, { recursive: true, encoding: 'utf8' }).sort(),
    unwedge: (...words: string[]) => unwedge(home, ...words),
  };
}
