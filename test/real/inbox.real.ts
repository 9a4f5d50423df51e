import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { runBuilt } from '../cli/startCli.ts';
import { fixture, main } from '../cli/startRun.ts';
import { setup } from '../globalSetup.ts';
import { rawAcpClient } from '../support/acpWire.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { converseWith } from '../support/wire.ts';
import { claudeEnv, hasClaude } from './claudeEnv.ts';
import { callsTool, type FakeRequest, says, startFakeAnthropic } from './fakeAnthropic.ts';
import { findAgents } from './fire/agents.ts';
import { startRealClaude } from './startRealClaude.ts';

const modules = process.env['UNWEDGE_FIRE_MODULES'] ?? fileURLToPath(new URL('node_modules', import.meta.url));

interface Shown {
  readonly id: string;
  readonly what: string;
  readonly form: { readonly is: string; readonly options?: readonly { readonly id: string }[] };
}

/** People before another terminal: `unwedge inbox`, each time in a process of its own. */
function people(db: string) {
  const env = { UNWEDGE_DB: db };
  const open = async (): Promise<readonly Shown[]> => {
    const { stdout } = await runBuilt(['inbox', '--json'], env);
    return stdout === '' ? [] : (JSON.parse(stdout) as readonly Shown[]);
  };
  return {
    open,
    async question(): Promise<Shown> {
      await expect.poll(async () => (await open()).length).toBe(1);
      return (await open())[0] as Shown;
    },
    answer: (id: string, ...words: readonly string[]) =>
      runBuilt(['inbox', 'answer', id, '--by', 'anna', ...words], env),
  };
}

const resultOf = (request: FakeRequest | undefined): string =>
  JSON.stringify(
    (request?.body.messages ?? []).flatMap(({ content }) =>
      typeof content === 'string' ? [] : content.filter(({ type }) => type === 'tool_result'),
    ),
  );

/** A turn of the real program, which runs without a person, whose tool asks one. */
async function startElicited(options: readonly string[]) {
  const home = temporaryDirectory();
  const [db, file] = [join(home, 'mcp.sqlite'), join(home, 'mcp.json')];
  const args = [main, 'mcp', ...options, '--', process.execPath, fixture('mcpElicits.mjs')];
  const ev = { command: process.execPath, args, env: { UNWEDGE_DB: db } };
  writeFileSync(file, JSON.stringify({ mcpServers: { ev } }));
  const words = ['-p', '--output-format', 'stream-json', '--verbose', '--allowedTools', 'mcp__ev'];
  const script = [callsTool('mcp__ev__deploy', {}), says('done')];
  const { claude, upstream } = await startRealClaude(script, {
    args: [...words, '--mcp-config', file, '--strict-mcp-config'],
  });
  const outcome = claude.call({ prompt: 'do it' }, { maxAttempts: 1 });
  return { outcome, result: () => resultOf(upstream.requests.at(-1)), people: people(db) };
}

describe.skipIf(!hasClaude)('a server that asks a person under the real claude, which has none', () => {
  beforeAll(setup);

  it('[G-17] [P-3] waits for an answer given in another process, and goes on with it', async () => {
    const turn = await startElicited(['--inbox']);
    const { id, what, form } = await turn.people.question();
    expect([what, form.is]).toEqual(['Deploy to production?', 'fields']);
    expect(await turn.people.answer(id, '--value', '{"ticket":"T-1"}')).toMatchObject({ code: 0 });
    expect(await turn.outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(turn.result()).toContain('deployed for T-1');
    expect(turn.result()).toContain('allowed by anna (command)');
    expect(await turn.people.open()).toEqual([]);
  });

  it('[G-17] [H-4] is told no when nobody answers in time, and its agent that a person was asked', async () => {
    const config = join(temporaryDirectory(), 'unwedge.json');
    writeFileSync(config, JSON.stringify({ inbox: { overallMs: '3s' } }));
    const turn = await startElicited(['--config', config]);
    expect(await turn.outcome).toMatchObject({ ok: true, value: { agent: { text: 'done' } } });
    expect(turn.result()).toContain('not deployed: cancel');
    expect(turn.result()).toContain('nobody answered until');
  });
});

const [agent] = findAgents(modules).found.filter(({ name }) => name === 'claude');

/** A turn of the real agent behind `unwedge acp` that asks for a permission, with an editor that cannot ask anybody. */
async function startPermission(options: readonly string[]) {
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const db = join(home, 'acp.sqlite');
  const made = join(cwd, 'made');
  const script = [callsTool('Bash', { command: `touch ${made}`, description: 'makes it' }), says('done')];
  const upstream = await startFakeAnthropic(script);
  onTestFinished(() => upstream.close());
  const path = `${join(modules, '.bin')}:${process.env['PATH'] ?? ''}`;
  const own = agent?.env({ home, cwd, url: upstream.url, asks: true });
  const env = { ...claudeEnv(home, upstream.url), ...own, PATH: path, UNWEDGE_DB: db };
  const words = agent?.words ?? [];
  const peer = converseWith(process.execPath, [main, 'acp', ...options, '--', ...words], env);
  const client = rawAcpClient(peer.child);
  client.request('i', 'initialize', { protocolVersion: 1, clientCapabilities: {} });
  await client.answer('i');
  client.request('n', 'session/new', { cwd, mcpServers: [] });
  const { messages } = await client.answer('n');
  client.prompt(1, 'do it', String(messages.at(-1)?.result?.['sessionId']));
  const asked = await client.until(({ method }) => method === 'session/request_permission');
  client.send({ id: asked.messages.at(-1)?.id, error: { code: -32_601, message: 'nobody is here' } });
  const end = async () => (await client.answer(1)).messages.at(-1);
  return { end, made: () => existsSync(made), result: () => resultOf(upstream.requests.at(-1)), people: people(db) };
}

describe.skipIf(agent === undefined)('a permission of the real agent of Claude, whose editor has nobody to ask', () => {
  beforeAll(setup);

  it('[G-17] [A-3] waits for an answer given in another process, and goes on with it', async () => {
    const turn = await startPermission(['--inbox']);
    const { id, form } = await turn.people.question();
    const allow = form.options?.find((each) => /once/i.test(each.id) && /allow/i.test(each.id))?.id ?? '';
    expect(await turn.people.answer(id, '--text', allow)).toMatchObject({ code: 0 });
    expect(await turn.end()).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(turn.made()).toBe(true);
  });

  it('[G-17] [H-4] is refused when nobody answers in time', async () => {
    const config = join(temporaryDirectory(), 'unwedge.json');
    writeFileSync(config, JSON.stringify({ inbox: { overallMs: '3s' } }));
    const turn = await startPermission(['--config', config]);
    expect(await turn.end()).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(turn.made()).toBe(false);
  });
});
