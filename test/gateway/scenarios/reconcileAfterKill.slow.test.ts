import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type FunctionOptions, type HistoryEntry, type ToolResult } from '../../../src/index.ts';
import { fixture } from '../../actors/process/startProcess.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

interface Payment {
  readonly id: string;
  readonly reference: string;
  readonly key?: string;
  readonly note?: string;
}

/** A gateway that was killed in the middle of a payment, at each delivery of its message, and the next one on its database. */
async function startAgain(
  when: 'after' | 'before' | 'answered' | 'keyed',
  options: FunctionOptions,
  repeats = false,
  deliveries: readonly string[] = [when],
) {
  const directory = temporaryDirectory();
  const [store, file] = [join(directory, 'gateway.sqlite'), join(directory, 'payments')];
  for (const each of deliveries) {
    const { signal } = await execa(process.execPath, [fixture('doomedBank'), store, file, each], { reject: false });
    expect(signal).toBe('SIGKILL');
  }
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
      return payments().find(({ key }) => key !== undefined && key === input.key) ?? { ...input, id: 'ch_2' };
    },
  );
  let seen: (history: readonly HistoryEntry[]) => void = () => undefined;
  const handled = new Promise<readonly HistoryEntry[]>((resolve) => {
    seen = resolve;
  });
  const repeated: ToolResult[] = [];
  const session = gateway.session('main', {
    async onMessage(_message, turn) {
      const { history } = session;
      // What it did before: an equal call, and one more that it means.
      for (const note of ['x'.repeat(5000), 'x'.repeat(5000), 'another']) {
        if (repeats) repeated.push(await turn.tool(integration, 'charge', { note, reference: 'o-7' }));
      }
      seen(history);
    },
  });
  const told: object[] = [];
  gateway.on('call.reconciled', (fact) => told.push(fact));
  await gateway.start();
  const history = await handled;
  const result = history.find((entry) => entry.type === 'tool_result');
  return {
    history,
    result: result?.type === 'tool_result' ? result.result : undefined,
    made,
    payments,
    told,
    repeated,
  };
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

  it.each(['after', 'answered', 'keyed'] as const)(
    '[R-16] [G-11] is not made again by its message that is delivered again (%s)',
    async (when) => {
      const options: FunctionOptions =
        when === 'keyed' ? { reconcile: { idempotencyKey: { in: 'input.key' } } } : byList();
      const { repeated, made } = await startAgain(when, options, true);
      const [first, second, third] = repeated;
      expect(first).toMatchObject({ status: 'ok', reconciled: expect.stringContaining('earlier delivery') as string });
      expect(first).toMatchObject({ value: { id: 'ch_1' } });
      // The same once more is meant: so is what is not the same.
      expect(second).toMatchObject({ status: 'ok', value: { note: 'x'.repeat(5000) } });
      expect(third).toMatchObject({ status: 'ok', value: { note: 'another' } });
      expect(made.filter(({ note }) => note === 'another')).toHaveLength(1);
      expect(made).toHaveLength(when === 'keyed' ? 3 : 2);
    },
  );

  it.each([['after'], ['answered']] as const)(
    '[R-16] [G-11] is not made again by the third delivery of its message either (%s)',
    async (when) => {
      const { repeated, made, payments } = await startAgain(when, byList(), true, [when, 'again']);
      expect(repeated[0]).toMatchObject({
        status: 'ok',
        value: { id: 'ch_1' },
        reconciled: expect.stringContaining('earlier delivery') as string,
      });
      expect(payments()).toHaveLength(1);
      // Those that no delivery before has made.
      expect(made).toHaveLength(2);
    },
  );

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
