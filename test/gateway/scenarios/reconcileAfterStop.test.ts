import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type HistoryEntry, type ReconcileOptions } from '../../../src/index.ts';
import { hasSqlite, openDatabase } from '../../store/startStore.ts';
import { whyText } from '../../../cli/whyText.ts';
import { deferred } from '../../support/deferred.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

const reconcile: ReconcileOptions = {
  tool: 'list_payments',
  match: { reference: 'input.reference' },
  result: 'item',
};

/** A gateway whose tool makes a payment and does not answer. */
function makeGateway(
  store: string,
  payments: { id: string; reference: string }[],
  list: () => unknown = () => payments,
) {
  const gateway = createGateway({ store, control: false });
  onTestFinished(() => gateway.stop());
  let paid: () => void = () => undefined;
  const isPaid = new Promise<void>((resolve) => {
    paid = resolve;
  });
  gateway.integration(
    'bank',
    { tools: { charge: { reconcile }, list_payments: { effect: 'readOnly' } } },
    ({ tool, input }: { tool: string; input: { reference: string } }) => {
      if (tool === 'list_payments') return list();
      payments.push({ id: `ch_${payments.length + 1}`, reference: input.reference });
      paid();
      return new Promise(() => undefined);
    },
  );
  let seen: (history: readonly HistoryEntry[]) => void = () => undefined;
  const handled = new Promise<readonly HistoryEntry[]>((resolve) => {
    seen = resolve;
  });
  const session = gateway.session('main', {
    async onMessage({ text }, turn) {
      seen(session.history);
      if (payments.length === 0) await turn.tool('bank', 'charge', { reference: text });
    },
  });
  return { gateway, session, isPaid, handled };
}

/** What a gateway leaves that was stopped after its payment was made, and before it was answered. */
async function stopWhilePaying() {
  const store = join(temporaryDirectory(), 'gateway.sqlite');
  const payments: { id: string; reference: string }[] = [];
  const { gateway, session, isPaid } = makeGateway(store, payments);
  await gateway.start();
  void session.send({ kind: 'user', text: 'o-7' });
  await isPaid;
  await gateway.stop();
  return { store, payments };
}

describe.skipIf(!hasSqlite)('a call that an orderly stop cut', () => {
  it('[R-16] [G-11] stays open in the database, and the next start finds out what became of it', async () => {
    const { store, payments } = await stopWhilePaying();
    const open = openDatabase(store).prepare('SELECT id, state FROM unwedge_calls').all();
    expect(open).toMatchObject([{ id: 'main-1-1', state: 'pending' }]);

    const second = makeGateway(store, payments);
    await second.gateway.start();
    const result = (await second.handled).find(({ type }) => type === 'tool_result');
    expect(result).toMatchObject({
      call: 'main-1-1',
      result: { status: 'ok', value: { id: 'ch_1' }, reconciled: 'list_payments lists it as ch_1' },
    });
    expect(payments).toHaveLength(1);
  });

  it('[R-16] [O-13] [G-11] is what the session waits for until that is known, and its messages with it', async () => {
    const { store, payments } = await stopWhilePaying();

    const listed = deferred<unknown>();
    const second = makeGateway(store, payments, () => listed.promise);
    const resumed = second.gateway.wait('session.resumed');
    const asked = second.gateway.wait('call.reconciling');
    await second.gateway.start();
    expect(await resumed).toMatchObject({ waiting: 1, lostCalls: 0, openCalls: 1 });
    await asked;
    expect([second.session.state, second.session.waiting]).toEqual(['recovering', 1]);
    const why = second.session.why();
    expect(why).toMatchObject({
      waiting: 1,
      calls: [],
      recovering: [
        {
          call: 'main-1-1',
          integration: 'bank',
          tool: 'charge',
          progress: { phase: 'reconciling', reconciling: { asks: 'list_payments', about: 'charge', state: 'asking' } },
          target: { circuit: 'closed' },
        },
      ],
    });
    expect(whyText(why)).toMatch(
      /1 message waits\.\n {2}finds out first what became of a call of an earlier process:\n {2}bank charge \(main-1-1\) for .*: asks list_payments whether charge happened/,
    );
    listed.resolve(payments);
    await second.handled;
    expect(second.session.why()).not.toHaveProperty('recovering');
    expect(second.session.state).not.toBe('recovering');
  });
});
