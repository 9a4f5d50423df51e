import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { systemClock } from '../../../src/runtime/systemClock.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import type { ToolCallOptions } from '../../../src/sessions/toolRequest.ts';
import { openSqliteReader } from '../../../reader/sqlite/reader.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

interface Request {
  readonly tool: string;
  readonly input: unknown;
}

const once = { once: true } as const;

/** A store in a file, and gateways on it one after the other, whose session pays. */
function startBank() {
  const store = join(temporaryDirectory(), 'gateway.sqlite');
  const paid: string[] = [];
  const keys: unknown[] = [];
  const begun: { readonly id: string; readonly delivery: number }[] = [];
  let options: ToolCallOptions = once;
  let ends: 'hang' | 'end' = 'hang';
  const wait = ({ signal }: Turn): Promise<unknown> =>
    new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));

  async function start(more: { readonly historyLimit?: number } = {}) {
    const gateway = createGateway({ store, control: false, logger: false });
    const pay = ({ tool, input }: Request) => {
      const text = `${tool} ${JSON.stringify(input)}`;
      paid.push(text);
      return { id: `ch_${paid.length}` };
    };
    gateway.integration('bank', {}, pay);
    const asked = { probe: () => ({ done: { id: 'ch_1' } }) };
    gateway.integration('asked', { reconcile: asked }, pay);
    gateway.integration('keyed', { reconcile: { idempotencyKey: { in: 'input.key' } } }, ({ tool, input }: Request) => {
      keys.push((input as { key?: unknown }).key);
      return pay({ tool, input: {} });
    });
    const session = gateway.session('agent:main', {
      ...more,
      async onMessage({ kind, text = '' }, turn) {
        if (kind === 'other') return text;
        begun.push({ id: turn.messageId, delivery: turn.delivery });
        const result = await turn.tool(kind, 'charge', { to: text }, options);
        if (ends === 'hang') await wait(turn);
        return result;
      },
    });
    await gateway.start();
    onTestFinished(() => gateway.stop());
    return { gateway, session };
  }

  return {
    ...{ store, paid, keys, begun, start },
    declares(next: ToolCallOptions) {
      options = next;
    },
    ends() {
      ends = 'end';
    },
    /** Makes dead letters of what waits: it has waited too long. */
    letters() {
      const waits = `state IN ('waiting', 'taken')`;
      openDatabase(store).exec(
        `UPDATE unwedge_messages SET state = 'expired', ended_at = ${Date.now()} WHERE ${waits}`,
      );
    },
  };
}

type Bank = ReturnType<typeof startBank>;

/** Has a message pay, and be put aside with that. */
async function startWithLetter(bank: Bank, kind = 'bank') {
  const { gateway, session } = await bank.start();
  await session.send({ kind, text: 'anna' });
  await expect.poll(() => session.history.some(({ type }) => type === 'tool_result')).toBe(true);
  await gateway.stop();
  bank.letters();
}

/** Orders a letter in the database, without a gateway. */
async function orderInFile(store: string, message: string) {
  const reader = await openSqliteReader(store);
  const note = { by: 'anna' };
  const order = { order: 'send_again', session: 'agent:main', message, note, at: systemClock.wallNow() } as const;
  const result = await reader.orderAboutLetter({ ...order, dead: new Set() });
  reader.close();
  return result;
}

describe.skipIf(!hasSqlite)('a dead letter that is sent again', () => {
  it.each(['bank', 'asked', 'keyed'])('[G-14] pays once what its message has paid: %s', async (kind) => {
    const bank = startBank();
    await startWithLetter(bank, kind);
    if (kind !== 'bank') bank.declares({});
    const { session } = await bank.start();
    bank.ends();
    expect(await session.sendAgain('agent:main-m1')).toMatchObject({ ok: true });
    await expect.poll(() => bank.begun).toHaveLength(2);
    expect(bank.begun[1]).toEqual({ id: 'agent:main-m1', delivery: 2 });
    await expect.poll(() => session.state).toBe('idle');
    expect(bank.paid).toHaveLength(1);
    expect(session.history.findLast(({ type }) => type === 'tool_result')).toMatchObject({
      result: { status: 'ok', value: { id: 'ch_1' }, reconciled: 'an earlier delivery of its message had this answer' },
    });
  });

  it('[G-14] pays once however often it is one again, in the database and by its session, and under its first id', async () => {
    const bank = startBank();
    await startWithLetter(bank);
    for (const letter of [1, 2, 3, 4]) {
      const isInFile = letter % 2 === 1;
      const id = `agent:main-m${letter}`;
      const before = isInFile ? await orderInFile(bank.store, id) : undefined;
      const { gateway, session } = await bank.start();
      expect(before ?? (await session.sendAgain(id))).toMatchObject({ ok: true });
      await expect.poll(() => bank.begun).toHaveLength(letter + 1);
      await expect.poll(() => session.history.filter(({ type }) => type === 'tool_result')).toHaveLength(letter + 1);
      await gateway.stop();
      bank.letters();
    }
    expect(bank.paid).toHaveLength(1);
    expect(bank.begun.map(({ id }) => id)).toEqual(Array.from({ length: 5 }, () => 'agent:main-m1'));
    expect(bank.begun.map(({ delivery }) => delivery)).toEqual([1, 2, 3, 4, 5]);
  });

  it('[G-14] pays once when its history is forgotten long since', async () => {
    const bank = startBank();
    await startWithLetter(bank);
    const { gateway, session } = await bank.start({ historyLimit: 1 });
    for (let n = 0; n < 140; n++) await session.send({ kind: 'other', text: String(n) });
    await expect.poll(() => session.waiting, { timeout: 10_000 }).toBe(0);
    await gateway.stop();
    const again = await bank.start({ historyLimit: 1 });
    bank.ends();
    expect(await again.session.sendAgain('agent:main-m1')).toMatchObject({ ok: true });
    await expect.poll(() => bank.begun).toHaveLength(2);
    await expect.poll(() => again.session.state).toBe('idle');
    expect(bank.paid).toHaveLength(1);
  });

  it('[G-14] counts anew how often it may be begun, and is put aside again after as many', async () => {
    const bank = startBank();
    await startWithLetter(bank);
    openDatabase(bank.store).exec(`UPDATE unwedge_messages SET deliveries = 3`);
    const { gateway, session } = await bank.start();
    expect(await session.sendAgain('agent:main-m1')).toMatchObject({ ok: true });
    await expect.poll(() => bank.begun).toHaveLength(2);
    expect(bank.begun[1]).toEqual({ id: 'agent:main-m1', delivery: 4 });
    await gateway.stop();
    const next = await bank.start();
    await expect.poll(() => bank.begun).toHaveLength(3);
    expect(bank.begun[2]).toEqual({ id: 'agent:main-m1', delivery: 5 });
    await next.gateway.stop();
    expect(bank.paid).toHaveLength(1);
  });

  it('[G-14] pays again what nothing says is to be paid once, and another payment', async () => {
    const bank = startBank();
    bank.declares({});
    await startWithLetter(bank);
    const { session } = await bank.start();
    bank.ends();
    await session.sendAgain('agent:main-m1');
    await expect.poll(() => bank.paid).toHaveLength(2);
    bank.declares(once);
    await session.send({ kind: 'bank', text: 'anna' });
    await expect.poll(() => bank.paid).toHaveLength(3);
  });

  it('[G-14] has a key that no sender may give', async () => {
    const bank = startBank();
    const { session } = await bank.start();
    expect(() => session.send({ kind: 'bank' }, { key: 'sent again: 1' })).toThrow('options.key');
  });
});
