import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { DatabaseSource } from '../../../web/dashboard/databaseSource.ts';
import { createGateway } from '../../../src/index.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import type { Need } from '../../../operator/needs.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import { openReader } from '../../../reader/openReader.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call } from '../startCli.ts';

/** Two sessions whose calls open the circuit of `kb`; with the thresholds of alerts that are given. */
async function startHurt(failures: number) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const db = join(home, 'gateway.sqlite');
  const gateway = createGateway({ store: db, alerts: { failures }, logger: false, toolCallRetry: { maxAttempts: 1 } });
  onTestFinished(() => gateway.stop());
  const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 2, resetTimeoutMs: 600_000 } };
  const kb = gateway.integration('kb', { policy }, () => {
    throw Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });
  });
  const sessions = ['agent:one', 'agent:two', 'agent:well'].map((id) =>
    gateway.session(id, {
      onMessage: async ({ text }, turn) => {
        if (text === 'call') await turn.tool(kb, 'search', {});
      },
    }),
  );
  await gateway.start();
  for (const [index, session] of sessions.entries()) {
    const ended = gateway.wait('session.turn_ended');
    await session.send({ kind: 'user', text: index < 2 ? 'call' : 'rest' });
    await ended;
  }
  await gateway.store?.flush();
  const status = async () =>
    JSON.parse((await call(['status', '--json', '--db', db], { now: Date.now })).stdout) as {
      readonly health: string;
      readonly needs: readonly Need[];
      readonly attention: readonly { readonly what: string }[];
    };
  const reader = await openReader(db);
  onTestFinished(() => reader.close());
  const source = new DatabaseSource({ clock: systemClock, read: (work) => work(reader) });
  return { db, gateway, status, source };
}

describe.skipIf(!hasSqlite)('what needs a person', () => {
  it('[O-17] is told of an open circuit with the sessions that it hurts, for status, the page and agents', async () => {
    const { db, status, source } = await startHurt(50);
    const { health, needs, attention } = await status();
    expect(health).toBe('warn');
    expect(needs).toEqual([
      { kind: 'open_circuit', name: 'kb', severity: 'warn', sessions: ['agent:one', 'agent:two'] },
    ]);
    expect(attention[0]?.what).toMatch(/^kb is not called: .*; it hurts 2 sessions: agent:one, agent:two$/);
    const { waits } = await source.snapshot(900_000);
    expect(waits).toMatchObject([{ sign: 'open', needsPerson: false }]);
    expect(waits[0]?.text).toMatch(/; it hurts 2 sessions: agent:one, agent:two\.$/);
    expect((await call(['why', '--db', db], { now: Date.now })).stdout).toContain('it hurts 2 sessions');
  });

  it('[L-5] is told by why of a session that does nothing, whose last call failed, live and on record', async () => {
    const { db, gateway } = await startHurt(50);
    const why = async (session: string) => (await call(['why', session, '--db', db], { now: Date.now })).stdout;
    const failed =
      /its last turn ended well .*; of its 1 call 1 failed:\n {4}kb search \(\S+\) failed, after .*: transient: connection refused/;
    expect(await why('agent:one')).toMatch(failed);
    expect(await why('agent:well')).not.toContain('its last turn');
    await gateway.stop();
    expect(await why('agent:one')).toMatch(failed);
  });

  it('[O-13] [G-15] [G-16] leads with a session whose budget is spent and with one that spins, with the last answer', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false, toolCallRetry: { maxAttempts: 1 } });
    let goOn = (): void => undefined;
    const held = new Promise<void>((resolve) => (goOn = resolve));
    onTestFinished(() => {
      goOn();
      return gateway.stop();
    });
    gateway.integration('kb', {}, () => Promise.reject(Object.assign(new Error('no such page'), { status: 404 })));
    const loop = async (calls: number, turn: Turn) => {
      for (let call = 0; call < calls; call++) await turn.tool('kb', 'find', { page: 1 });
      await held;
    };
    const spins = gateway.session('agent:spins', { onMessage: (_message, turn) => loop(6, turn) });
    const budget = { day: { toolCalls: 1 } };
    const waits = gateway.session('agent:waits', { budget, onMessage: (_message, turn) => loop(2, turn) });
    await gateway.start();
    const spent = gateway.wait('budget.spent');
    const told = gateway.wait('session.spinning', { where: ({ step }) => step === 'tell' });
    await waits.send({ kind: 'user' });
    await spent;
    await spins.send({ kind: 'user' });
    await told;
    await vi.waitFor(() => expect(waits.why().calls).toHaveLength(1));
    const { stdout } = await call(['status', '--db', db], { now: Date.now });
    expect(stdout).toMatch(/^! session agent:waits waits for its budget of 1 tool calls of the day; goes on/m);
    expect(stdout).toMatch(/^! session agent:spins spins: kb find was called 6 times with the same arguments/m);
    const { needs } = JSON.parse((await call(['status', '--json', '--db', db], { now: Date.now })).stdout) as {
      readonly needs: readonly Need[];
    };
    // The alert of the budget may be there by now.
    expect(needs.filter(({ kind }) => kind !== 'alert')).toMatchObject([
      { kind: 'budget', name: 'agent:waits', severity: 'bad' },
      { kind: 'spinning', name: 'agent:spins', severity: 'warn' },
    ]);
    const reader = await openReader(db);
    onTestFinished(() => reader.close());
    const source = new DatabaseSource({ clock: systemClock, read: (work) => work(reader) });
    const shown = (await source.snapshot(900_000)).waits;
    expect(shown.flatMap(({ sign, text }) => (sign === 'alert' ? [text] : [])).join('')).toMatch(
      /^(?:Alert: its budget is spent\.)?$/,
    );
    expect(shown.filter(({ sign }) => sign !== 'alert')).toMatchObject([
      { name: 'agent:spins', sign: 'spinning', error: expect.stringContaining('no such page') as unknown },
      { name: 'agent:waits', sign: 'budget' },
    ]);
  });

  it('[O-13] [O-3] is told by why of a message that failed: which, what, when, and whether it may be sent again', async () => {
    vi.stubEnv('XDG_RUNTIME_DIR', temporaryDirectory());
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store: db, logger: false, toolCallRetry: { maxAttempts: 1 } });
    onTestFinished(() => gateway.stop());
    gateway.integration('mail', {}, () => 'sent');
    gateway.integration('kb', {}, () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })));
    const session = gateway.session('agent:main', {
      onMessage: async ({ text = '' }, turn) => {
        for (const name of text.split(' ').slice(1)) await turn.tool(name, 'do', {});
        if (!text.startsWith('well')) throw Object.assign(new Error(`boom ${text}`), { status: 429 });
      },
    });
    await gateway.start();
    const send = async (text: string): Promise<string> => {
      const ended = gateway.wait('session.turn_ended');
      await session.send({ kind: 'user', text });
      await ended;
      await gateway.store?.flush();
      return (await call(['why', 'agent:main', '--db', db], { now: Date.now })).stdout;
    };
    const again = 'it is not delivered again. Its sender may send it as a new message';
    const first = await send('bare');
    expect(first).toMatch(/\n {2}its last turn failed (?:now|\S+ ago), after \S+: rate_limit: boom bare\n/);
    expect(first).toMatch(/\n {4}it processed agent:main-m1 \(user\), accepted \d{4}-\d\d-\d\d [\d:.]+; it is not/);
    expect(first).toContain(`${again}: it made no tool call\n`);
    expect(first).not.toContain('earlier');
    expect(await send('one kb')).toContain(`${again}: none of its calls took effect\n`);
    const third = await send('two kb mail mail');
    expect(third).toMatch(/: rate_limit: boom two kb mail mail; of its 3 calls 1 failed:\n {4}kb do \(\S+\) failed/);
    expect(third).toContain(
      `${again} where repeating these calls does no harm, which may have taken effect: mail do\n`,
    );
    expect(third).toMatch(
      /\n {2}2 earlier turns of the last 24h failed:\n {4}agent:main-m2 \(user\) .*: rate_limit: boom one kb\n/,
    );
    const fourth = await send('well');
    expect(fourth).toMatch(
      /\n {2}its last turn ended well .*\n {2}3 earlier turns of the last 24h failed:\n {4}agent:main-m3 /,
    );
  });

  it('[O-17] is as bad in status as on the page once it is an alert', async () => {
    const { status, source } = await startHurt(2);
    await vi.waitFor(async () => expect((await status()).health).toBe('bad'));
    expect((await status()).needs).toMatchObject([{ kind: 'open_circuit', severity: 'bad' }]);
    expect((await source.snapshot(900_000)).waits).toMatchObject([{ sign: 'open', needsPerson: true }]);
  });
});
