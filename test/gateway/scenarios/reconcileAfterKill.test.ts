import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type FunctionOptions, type HistoryEntry } from '../../../src/index.ts';
import { fixture } from '../../actors/process/startProcess.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

interface Payment {
  readonly id: string;
  readonly reference: string;
  readonly key?: string;
}

/** A gateway that was killed in the middle of a payment, and the next one on its database. */
async function startAgain(when: 'after' | 'before' | 'keyed', options: FunctionOptions) {
  const directory = temporaryDirectory();
  const [store, file] = [join(directory, 'gateway.sqlite'), join(directory, 'payments')];
  const { signal } = await execa(process.execPath, [fixture('doomedBank'), store, file, when], { reject: false });
  expect(signal).toBe('SIGKILL');
  const payments = (): Payment[] =>
    existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Payment)
      : [];
  const gateway = createGateway({ store, control: false });
  onTestFinished(() => gateway.stop());
  const made: Payment[] = [];
  const integration = when === 'keyed' ? 'keyed' : 'bank';
  gateway.integration(
    integration,
    options as FunctionOptions<{ tool: string; input: Payment }>,
    ({ tool, input }: { tool: string; input: Payment }) => {
      if (tool === 'list_payments') return payments();
      made.push(input);
      return payments().find(({ key }) => key === input.key) ?? { ...input, id: 'ch_2' };
    },
  );
  let seen: (history: readonly HistoryEntry[]) => void = () => undefined;
  const handled = new Promise<readonly HistoryEntry[]>((resolve) => {
    seen = resolve;
  });
  const session = gateway.session('main', {
    onMessage: () => {
      seen(session.history);
    },
  });
  const told: object[] = [];
  gateway.on('call.reconciled', (fact) => told.push(fact));
  await gateway.start();
  const history = await handled;
  const result = history.find((entry) => entry.type === 'tool_result');
  return { history, result: result?.type === 'tool_result' ? result.result : undefined, made, payments, told };
}

const byList = (notBefore?: number): FunctionOptions => ({
  tools: {
    list_payments: { effect: 'readOnly' },
    charge: {
      reconcile: { tool: 'list_payments', match: { reference: 'input.reference' }, result: 'item', notBefore },
    },
  },
});

describe('a call that a gateway had under way when it was killed', () => {
  it('[R-16] [G-11] is answered with what became of it, before its message is delivered again', async () => {
    const { result, made, history, payments } = await startAgain('after', byList());
    expect(result).toMatchObject({ status: 'ok', value: { id: 'ch_1' }, reconciled: 'list_payments lists it as ch_1' });
    // The whole input was kept.
    const call = history.find((entry) => entry.type === 'tool_call');
    expect(call).toMatchObject({ input: { reference: 'o-7', note: 'x'.repeat(5000) } });
    expect(made).toEqual([]);
    expect(payments()).toHaveLength(1);
  });

  it('[R-16] [G-11] is answered as not done, where its rule vouches for that', async () => {
    const { result, made, told } = await startAgain('before', byList(1));
    expect(result).toMatchObject({ synthetic: true, outcome: 'not_done', how: 'list_payments does not list it' });
    expect(made).toEqual([]);
    expect(told).toMatchObject([{ verdict: 'not_done', session: 'main' }]);
  });

  it('[R-16] [G-11] is made again with the same key, and its answer is the result', async () => {
    const reconcile = { idempotencyKey: { in: 'input.key' } } as const;
    const { result, made, payments } = await startAgain('keyed', { reconcile });
    expect(result).toMatchObject({ status: 'ok', value: { id: 'ch_1' } });
    expect(made).toHaveLength(1);
    expect(made[0]?.key).toBe(payments()[0]?.key);
    expect(made[0]?.key).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('[R-16] [G-11] is answered as unknown where nobody has a rule for it any more', async () => {
    const { result } = await startAgain('after', {});
    expect(result).toMatchObject({ synthetic: true, kind: 'crash', outcome: 'unknown' });
  });
});
