import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { askRuntime } from '../../../operator/client.ts';
import { createGateway, type Fact, type Gateway, type Logger, systemClock } from '../../../src/index.ts';
import { openReader } from '../../../reader/openReader.ts';
import { call } from '../../cli/startCli.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** What must come out nowhere: by its shape, by the name it goes under, as a value of the environment, as a prompt. Built from parts. */
const planted = {
  shape: `sk-ant-api03-${'aB3_'.repeat(12)}`,
  named: 'correct-horse-battery',
  environment: 'staple-of-the-environment',
  variable: 'variable-of-a-child',
  prompt: 'tell me what I said in confidence',
} as const;
const everything = Object.values(planted);

/** What somebody throws who does not think of where it goes. */
function indiscreet(): Error {
  const { shape, named, environment, prompt } = planted;
  const cause = new Error(`refused: password=${named}`);
  const error = new Error(`401 for ${shape}, with ${environment}`, { cause });
  return Object.assign(error, {
    code: 'ECONNRESET',
    config: { headers: { Authorization: named }, env: { X: planted.variable }, body: { prompt } },
  });
}

interface Ways {
  /** Facts as subscribers and channels get them. */
  readonly facts: readonly unknown[];
  readonly lines: readonly unknown[];
  readonly gateway: Gateway;
  readonly directory: string;
  readonly db: string;
}

/** A gateway of which everything fails with what must not come out. */
async function startIndiscreet(): Promise<Ways> {
  const directory = temporaryDirectory();
  const db = join(directory, 'events.sqlite');
  const runtimeDirectory = join(directory, 'run');
  mkdirSync(runtimeDirectory);
  vi.stubEnv('KB_PASSWORD', planted.environment);
  vi.stubEnv('XDG_RUNTIME_DIR', runtimeDirectory);
  onTestFinished(() => void vi.unstubAllEnvs());
  const facts: unknown[] = [];
  const lines: unknown[] = [];
  const line = (message: string, fields?: object): void => void lines.push([message, fields]);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const gateway = createGateway({ store: db, logger, alerts: { failures: 1 } });
  onTestFinished(() => gateway.stop());
  gateway.on('*', (fact) => facts.push(fact));
  const hear = (message: unknown): void => void facts.push(message);
  subscribe('unwedge:call.failed', hear);
  onTestFinished(() => void unsubscribe('unwedge:call.failed', hear));
  return { facts, lines, gateway, directory, db };
}

async function failEverything({ gateway }: Ways): Promise<void> {
  const { shape, named, environment } = planted;
  const kb = gateway.integration('kb', { policy: { retry: { maxAttempts: 1 } } }, () => {
    throw indiscreet();
  });
  gateway.hook('Stop', () => {
    throw indiscreet();
  });
  const approver = gateway.approval('operator', () => {
    throw indiscreet();
  });
  const script = `console.error('${shape} --token ${named}'); process.exit(3)`;
  gateway.mcpServer('fs', { command: process.execPath, args: ['-e', script], env: { SECRET_TOKEN: planted.variable } });
  const session = gateway.session('agent:main', {
    onMessage: async (_message, turn) => {
      await turn.tool('kb', 'ask', { apiKey: named, text: shape });
      throw indiscreet();
    },
  });
  gateway.on('listener.failed', () => undefined);
  gateway.once('call.failed', () => {
    throw indiscreet();
  });
  await gateway.start();
  const crashed = gateway.wait('child.crashed');
  const turnEnded = gateway.wait('session.turn_ended');
  await kb.call(undefined, { label: `for ${shape} of ${environment}` });
  await gateway.runHooks({ event: 'Stop', action: shape, payload: named });
  await approver({ action: `pay with ${shape}`, payload: named });
  await session.send({ kind: 'user', text: 'hello' });
  await Promise.all([crashed, turnEnded]);
  await gateway.store?.flush();
}

/** Fails with what was found, not with all that was searched. */
function expectNothingOf(text: string): void {
  expect(everything.filter((secret) => text.includes(secret))).toEqual([]);
}

const asText = (value: unknown): string =>
  inspect(value, {
    depth: Infinity,
    showHidden: true,
    maxArrayLength: null,
    maxStringLength: null,
    breakLength: Infinity,
  });

describe.skipIf(!hasSqlite)('planted secrets', () => {
  it('[O-8] [Q-6] reach no way out: events, channels, log, records, crash reports, sockets and commands', async () => {
    const ways = await startIndiscreet();
    await failEverything(ways);
    const { facts, lines, gateway, directory, db } = ways;

    const types = new Set((facts as readonly Fact[]).map(({ type }) => type));
    for (const type of [
      'call.failed',
      'hook.failed',
      'child.crashed',
      'session.tool_failed',
      'listener.failed',
      'alert.raised',
    ])
      expect(types).toContain(type);
    expectNothingOf(asText(facts));
    expect(asText(facts)).toContain('401 for [redacted], with [redacted]');
    expect(lines.length).toBeGreaterThan(0);
    expectNothingOf(asText(lines));

    // Over the socket, while it runs.
    const reader = await openReader(db);
    const [runtime] = await reader.runtimes();
    reader.close();
    for (const [method, params] of [['tree'], ['status'], ['why', { session: 'agent:main' }]] as const) {
      const answer = await askRuntime(runtime?.socket ?? '', method, params, { clock: systemClock });
      expect(answer.ok).toBe(true);
      expectNothingOf(asText(answer));
    }
    for (const words of [['status'], ['status', '--tree'], ['events', '--failed'], ['alerts'], ['why', 'agent:main']]) {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await call([...words, ...more, '--db', db], { now: () => Date.now() });
        expect(stdout).not.toBe('');
        expectNothingOf(stdout + stderr);
      }
    }
    await gateway.stop();

    // What a session was given has to be given back: its tables are not searched, the rest of the file is.
    const after = openDatabase(db);
    const tables = ['events', 'unwedge_alerts', 'unwedge_breakers', 'unwedge_children', 'unwedge_runtimes'];
    const rows = tables.flatMap((table) => after.prepare(`SELECT * FROM ${table}`).all());
    expect(rows.length).toBeGreaterThan(10);
    expectNothingOf(asText(rows));
    rmSync(join(directory, 'run'), { recursive: true, force: true });
    expect(readdirSync(directory)).toContain('events.sqlite');
  });

  it('[O-8] are in no file at all of a gateway without sessions', async () => {
    const ways = await startIndiscreet();
    const kb = ways.gateway.integration('kb', { policy: { retry: { maxAttempts: 1 } } }, () => {
      throw indiscreet();
    });
    await ways.gateway.start();
    await kb.call(undefined);
    await ways.gateway.store?.flush();
    const files = readdirSync(ways.directory, { withFileTypes: true }).filter((entry) => entry.isFile());
    const text = files.map(({ name }) => readFileSync(join(ways.directory, name), 'latin1')).join('');
    expect(text).toContain('401 for [redacted]');
    expectNothingOf(text);
  });

  it('[O-8] are neither in why a message failed, nor in what is recorded with the commit that tells of it', async () => {
    const { gateway, db } = await startIndiscreet();
    const session = gateway.session('kept', {
      onMessage: () => {
        throw indiscreet();
      },
    });
    await gateway.start();
    const sent = await session.send({ kind: 'user', text: 'hello' });
    if (sent.accepted) await sent.processed;
    await gateway.store?.flush();
    await gateway.stop();
    const file = openDatabase(db);
    const errors = file.prepare('SELECT error FROM unwedge_messages').all();
    expect(asText(errors)).toContain('401 for [redacted], with [redacted]');
    // The letter is that of a gateway that was killed while it had the message.
    file.prepare("UPDATE unwedge_messages SET state = 'poison'").run();
    const next = createGateway({ store: db });
    onTestFinished(() => next.stop());
    const told: unknown[] = [];
    next.on('operator.dropped', (fact) => told.push(fact));
    const again = next.session('kept', { onMessage: () => undefined });
    await next.start();
    const letter = sent.accepted ? sent.id : '';
    expect(await again.drop(letter, { by: 'me', why: `it holds ${planted.shape}` })).toMatchObject({ ok: true });
    await next.store?.flush();
    const events = openDatabase(db).prepare("SELECT metadata FROM events WHERE category = 'operator'").all();
    for (const way of [told, events]) expect(asText(way)).toContain('it holds [redacted]');
    expectNothingOf(asText([errors, told, events]));
  });

  it('[O-8] are not in the errors of wrong options', () => {
    const secret = { [planted.named]: planted.environment };
    const attempts = [
      () => createGateway({ alerts: { webhook: { url: `nonsense:${planted.shape}` } } }),
      () => createGateway({ alerts: { webhook: { url: `http://me:${planted.named}@x/${planted.environment}` } } }),
      () => createGateway({ alerts: { webhook: { url: 'http://x', headers: { 'X-Of': `${planted.named}\nx` } } } }),
      // @ts-expect-error wrong on purpose
      () => createGateway({ alerts: { webhook: { url: 'http://x', headers: { Authorization: [planted.named] } } } }),
      // @ts-expect-error wrong on purpose
      () => createGateway().subprocess('x', { command: 'x', args: secret }),
      // @ts-expect-error wrong on purpose
      () => createGateway().mcpServer('x', { command: 'x', env: [planted.variable] }),
    ];
    for (const attempt of attempts) {
      let thrown: unknown;
      try {
        attempt();
      } catch (error) {
        thrown = error;
      }
      expect(thrown).toBeInstanceOf(Error);
      expectNothingOf(asText(thrown));
    }
  });

  it('[O-8] leave a fact that holds none as it is, errors and numbers included', async () => {
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    const cause = Object.assign(new TypeError('fetch failed'), { code: 'ECONNRESET' });
    const kb = gateway.integration('kb', { policy: { retry: { maxAttempts: 1 } } }, () => {
      throw cause;
    });
    await gateway.start();
    const failed = gateway.wait('call.failed');
    const outcome = await kb.call(undefined);
    const { failure } = await failed;
    expect(outcome).toEqual({ ok: false, failure });
    expect(failure.cause).toBe(cause);
  });
});
