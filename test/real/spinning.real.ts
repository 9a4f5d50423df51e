import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { faultyModelApi } from '../../testing/index.ts';
import { main } from '../cli/startRun.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { AcpPeer } from './fire/acpPeer.ts';
import { findAgents, type InstalledAgent, nodeOf } from './fire/agents.ts';

const modules = fileURLToPath(new URL('node_modules', import.meta.url));
const { found } = findAgents(modules);

/** Agents whose stream, or whose updates, tell that a command failed; gemini has it a success, and a guard of its own. */
const telling = found.filter(({ name }) => name !== 'gemini');
const named = (agents: readonly InstalledAgent[]) => agents.map((agent) => [agent.name, agent] as const);
const headless = named(telling.filter((agent) => agent.headless !== undefined));
const acp = named(telling.filter((agent) => agent.acp !== undefined));
const backends = named(telling.filter(({ name }) => name === 'claude -p' || name === 'codex exec'));

/** Commands that a model makes again and again: one that fails, one that goes well, and one that is another each time. */
const commands = {
  fails: () => 'ls /nowhere/at/all',
  dies: () => 'exit 3',
  succeeds: () => 'echo same',
  works: (nth: number) => `ls /nowhere/${nth}; echo ${nth} > done-${nth}`,
} as const;

const rounds = 42;

/** A place for an agent whose model makes a command in each round, but for the last. */
async function startModel(agent: InstalledAgent, kind: keyof typeof commands) {
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  for (const path of [cwd, join(home, 'tmp')]) mkdirSync(path, { recursive: true });
  const given = found.find(({ name }) => agent.name.startsWith(name))?.tool ?? agent.tool;
  let nth = 0;
  const isCodex = agent.name.startsWith('codex');
  const api = await faultyModelApi(() => {
    const command = commands[kind](++nth);
    const input = isCodex ? { cmd: command } : { command, description: `does it, try ${nth}` };
    const tool = { name: given?.name ?? (isCodex ? 'exec_command' : 'Bash'), input };
    return nth <= rounds ? { text: 'I try.', tool } : { text: 'Done.' };
  });
  onTestFinished(() => api.close());
  const env = {
    PATH: `${dirname(nodeOf(modules))}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    UNWEDGE_DB: join(home, 'runs.sqlite'),
    ...agent.env({ home, cwd, url: api.url }),
  };
  // Copilot masks its key wherever it prints those letters.
  const own = agent.name === 'copilot' ? { COPILOT_PROVIDER_API_KEY: 'sk-fake-000000' } : {};
  return { env: { ...env, ...own }, cwd, answers: () => nth };
}

/** Words of a run that tells of its calls. */
function wordsOf({ name, words, headless: own = [] }: InstalledAgent): readonly string[] {
  const more: Readonly<Record<string, readonly string[]>> = {
    copilot: ['--allow-all-paths', '--output-format', 'json'],
    goose: ['--with-builtin', 'developer'],
  };
  return [...words, ...own, ...(more[name] ?? [])];
}

async function unwedge(words: readonly string[], { env, cwd }: Awaited<ReturnType<typeof startModel>>) {
  const { exitCode, stderr } = await execa(process.execPath, [main, ...words], {
    ...{ cwd, env, extendEnv: false, reject: false, stdin: 'ignore' },
  });
  return { code: exitCode, stderr };
}

describe('a real agent whose model makes one call for ever', () => {
  it.for(headless)('[G-15] [L-4] is ended by `unwedge run` at the twentieth failure: %s', async ([, agent]) => {
    const model = await startModel(agent, 'fails');
    const profile = agent.profile ?? agent.name;
    const { code, stderr } = await unwedge(['run', '--agent', profile, '--', ...wordsOf(agent)], model);
    expect(stderr).toMatch(/unwedge: spinning: It spins, and was ended: \w+ was called 20 times/);
    expect(code).toBe(1);
    expect(model.answers()).toBeLessThan(25);
  });

  it.for(headless)('[G-15] is told of where it succeeds, and goes on: %s', async ([name, agent]) => {
    const model = await startModel(agent, 'succeeds');
    const profile = agent.profile ?? agent.name;
    const { code, stderr } = await unwedge(['run', '--agent', profile, '--', ...wordsOf(agent)], model);
    // Copilot numbers its shells in the answer, so that no two are the same.
    const isTold = name === 'copilot' || stderr.includes('was answered alike each time');
    expect({ code, isTold }).toEqual({ code: 0, isTold: true });
    expect(model.answers()).toBeGreaterThan(rounds);
  });

  it.for(headless)('[G-15] is left alone while it works: %s', async ([, agent]) => {
    const model = await startModel(agent, 'works');
    const profile = agent.profile ?? agent.name;
    const { code, stderr } = await unwedge(['run', '--agent', profile, '--', ...wordsOf(agent)], model);
    expect({ code, isTold: stderr.includes('spin') }).toEqual({ code: 0, isTold: false });
  });

  it.for(backends)('[G-15] [A-2] is ended by `unwedge agent` at the twentieth failure: %s', async ([name, agent]) => {
    const model = await startModel(agent, 'fails');
    const own = ['--backend', name.split(' ')[0] ?? '', '--command', agent.words.at(-1) ?? '', '--approve', 'all'];
    const { code, stderr } = await unwedge(['agent', ...own, 'do it'], model);
    expect(stderr).toMatch(/unwedge: spinning: It spins, and was ended: \w+ was called 20 times/);
    expect(code).toBe(1);
    expect(model.answers()).toBeLessThan(25);
  });

  // Copilot numbers its shells where nothing else is said.
  const silent = acp.filter(([name]) => name === 'codex');
  const prompts = [
    ...acp.map(([name, agent]) => [name, 'fails', agent] as const),
    ...silent.map(([name, agent]) => [name, 'dies', agent] as const),
  ];
  it.for(prompts)(
    '[G-15] [A-3] is ended by `unwedge acp`, and answers the next prompt: %s (%s)',
    async ([, kind, agent]) => {
      const model = await startModel(agent, kind);
      const words = [process.execPath, main, 'acp', '--name', 'agent', '--', ...agent.words, ...(agent.acp ?? [])];
      const peer = new AcpPeer(words, model.env, model.cwd);
      onTestFinished(async () => {
        peer.child.kill('SIGTERM');
        await peer.exited;
      });
      await peer.request('initialize', { protocolVersion: 1, clientCapabilities: {} }).first;
      const { result } = await peer.request('session/new', { cwd: model.cwd, mcpServers: [] }).first;
      const params = { sessionId: result?.['sessionId'], prompt: [{ type: 'text', text: 'do it' }] };
      const { error } = await peer.request('session/prompt', params).first;
      expect(error).toMatchObject({ data: { 'unwedge/failure': { kind: 'spinning' } } });
      expect(error?.message).toContain('was called 20 times with the same arguments and failed alike each time');
      expect(model.answers()).toBeLessThan(25);
      expect(await peer.request('session/prompt', params).first).toMatchObject({ error: { data: {} } });
    },
  );
});
