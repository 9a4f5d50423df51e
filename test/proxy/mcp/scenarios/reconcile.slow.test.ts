import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fixture } from '../../../actors/mcp/mcpHarness.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { type Message, type Scripted, startProxy, textIn } from '../startProxy.ts';
import type { ReconcileOptions } from '../../../../src/policy/reconcileRule.ts';
import type { ToolOptions } from '../../../../src/policy/toolOptions.ts';
import { proxyWhy } from '../../../../proxy/mcp/proxyWhy.ts';
import { whyText } from '../../../../cli/whyText.ts';

type When = 'before' | 'after' | 'stuck' | 'late' | 'listless' | 'failing' | 'refusing';

interface Bank extends Scripted {
  readonly reconcile?: ReconcileOptions;
  readonly charge?: ToolOptions;
}

const listed = {
  tool: 'list_payments',
  items: 'payments',
  match: { reference: 'input.reference' },
  result: 'item',
  endsWithProcess: true,
} as const;

/** A bank that loses the answer to its first charge, behind a proxy that is configured with a rule. */
async function startBank(when: When, { reconcile = listed, charge = {}, ...options }: Bank = {}, words: string[] = []) {
  const directory = temporaryDirectory();
  const file = join(directory, 'payments');
  const proxy = await startProxy({
    name: 'bank',
    args: [fixture('bankServer'), file, join(directory, 'killed'), when, ...words],
    policies: { integrations: { bank: { tools: { charge: { ...charge, reconcile } } } } },
    ...options,
  });
  await proxy.open();
  return {
    ...proxy,
    pay: (reference = 'o-7', more: object = {}) => proxy.call('charge', { reference, ...more }),
    payments: () =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line) as { readonly reference: string; readonly key?: string })
        : [],
  };
}

const failureOf = ({ result }: Message) =>
  (result?.['_meta'] as Record<string, object> | undefined)?.['unwedge/failure'];
const howOf = ({ result }: Message) =>
  (result?.['_meta'] as Record<string, string> | undefined)?.['unwedge/reconciled'];

describe('a call of a client whose answer is lost, with a reconcile rule', () => {
  it('[R-16] [P-3] is answered with what the next server lists, and is made once', async () => {
    const bank = await startBank('after');
    const answer = await bank.pay();
    expect(answer.result).toMatchObject({ structuredContent: { id: 'ch_1', reference: 'o-7' } });
    expect(answer.result?.['isError']).toBeUndefined();
    expect(howOf(answer)).toBe('list_payments lists it as ch_1');
    expect(bank.payments()).toHaveLength(1);
    expect(await bank.told('call.reconciled')).toMatchObject({ verdict: 'done', tool: 'charge', late: false });
    expect(bank.said).toContainEqual(
      expect.stringMatching(/^bank was restarted after .*; it is asked what became of 1 \(tools\/call charge\)$/),
    );
  });

  it('[R-16] is made again where the server that had it is gone and did not do it', async () => {
    const bank = await startBank('before');
    const answer = await bank.pay();
    expect(JSON.parse(textIn(answer))).toMatchObject({ id: 'ch_1', reference: 'o-7' });
    expect(bank.payments()).toHaveLength(1);
    expect(await bank.told('call.reconciled')).toMatchObject({ verdict: 'not_done' });
  });

  it('[R-16] is not made again where nobody says that its effect ends with its server', async () => {
    const { endsWithProcess: _, ...rule } = listed;
    const bank = await startBank('before', { reconcile: { ...rule, attempts: 1 } });
    expect(failureOf(await bank.pay())).toMatchObject({
      outcome: 'unknown',
      how: 'list_payments does not list it, and it may still happen',
    });
    expect(bank.payments()).toHaveLength(0);
  });

  it('[R-16] is not made again where the command only hands messages on: its server may go on', async () => {
    const bank = await startBank('before', { reconcile: { ...listed, attempts: 1 } }, ['ssh']);
    expect(failureOf(await bank.pay())).toMatchObject({
      outcome: 'unknown',
      how: 'list_payments does not list it, and it may still happen',
    });
    expect(bank.payments()).toHaveLength(0);
  });

  it('[R-16] is not made again with `--retry never`: the client hears that it did not happen', async () => {
    const bank = await startBank('before', { retry: 'never' });
    const answer = await bank.pay();
    expect(answer.result?.['isError']).toBe(true);
    expect(textIn(answer)).toContain('it did not happen (list_payments does not list it); it may be tried again');
    expect(failureOf(answer)).toMatchObject({ outcome: 'not_done', how: 'list_payments does not list it' });
    expect(bank.payments()).toHaveLength(0);
  });

  it('[R-16] is asked after also with `--retry always`', async () => {
    const bank = await startBank('after', { retry: 'always' });
    expect(howOf(await bank.pay())).toBe('list_payments lists it as ch_1');
    expect(bank.payments()).toHaveLength(1);
  });

  it('[R-16] [G-13] ends as unknown, in words and for programs, where the rule cannot say', async () => {
    const bank = await startBank('listless', { reconcile: { ...listed, timeoutMs: 300, attempts: 1 } });
    const answer = await bank.pay();
    expect(answer.result?.['isError']).toBe(true);
    expect(textIn(answer)).toContain('outcome unknown; it may have taken effect; it is declared mutating');
    expect(failureOf(answer)).toMatchObject({ kind: 'crash', outcome: 'unknown' });
    expect(bank.payments()).toHaveLength(1);
  });

  it('[R-16] takes a list that is an error for no answer', async () => {
    const bank = await startBank('failing', { reconcile: { ...listed, attempts: 1 } });
    expect(failureOf(await bank.pay())).toMatchObject({
      outcome: 'unknown',
      how: 'list_payments failed: {"payments":[]}',
    });
    expect(bank.payments()).toHaveLength(1);
  });

  it('[R-16] says that it was done where there is no result to give', async () => {
    const { result: _, ...reconcile } = listed;
    const bank = await startBank('after', { reconcile });
    const answer = await bank.pay();
    expect(answer.result?.['isError']).toBe(true);
    expect(textIn(answer)).toContain('it was done (list_payments lists it as ch_1); do not repeat it');
    expect(failureOf(answer)).toMatchObject({ outcome: 'done', retryable: false });
  });

  it('[R-16] holds equal calls of the connection, and answers each from the one; another input passes', async () => {
    const bank = await startBank('after');
    const answers = await Promise.all([bank.pay(), bank.pay(), bank.pay('o-8')]);
    // What was written before the crash is one more request in flight; what comes after it is held.
    expect(answers.map(({ result }) => result?.['isError'])).toEqual([undefined, undefined, undefined]);
    expect(new Set(bank.payments().map(({ reference }) => reference))).toEqual(new Set(['o-7', 'o-8']));
    expect(bank.payments()).toHaveLength(2);
  });

  it('[R-16] of a server that lives is unknown, as that may still do it', async () => {
    const bank = await startBank('stuck', { idleMs: 1000, whenAlive: 'end', keepMs: 0 });
    const answer = await bank.pay();
    expect(textIn(answer)).toContain('outcome unknown');
    expect(failureOf(answer)).toMatchObject({
      kind: 'timeout',
      outcome: 'unknown',
      how: 'list_payments does not list it, and it may still happen',
    });
    expect(bank.payments()).toHaveLength(0);
  });

  it('[R-16] of a server that lives is made again once `notBefore` has passed', async () => {
    const reconcile = { ...listed, notBefore: 1000 };
    const bank = await startBank('stuck', { idleMs: 1000, whenAlive: 'end', reconcile });
    expect(JSON.parse(textIn(await bank.pay()))).toMatchObject({ id: 'ch_1' });
    expect(bank.payments()).toHaveLength(1);
  });

  it('[R-16] is settled by its own answer that comes late', async () => {
    const bank = await startBank('late', { idleMs: 1000, whenAlive: 'end', keepMs: 0 });
    const answer = await bank.pay();
    expect(JSON.parse(textIn(answer))).toMatchObject({ id: 'ch_1' });
    expect(howOf(answer)).toBe('its answer came late');
    expect(bank.facts.filter(({ type }) => type === 'call.late')).toHaveLength(1);
  });

  it('[R-16] that the client cancels meanwhile has no answer; an equal one is answered with what is found', async () => {
    const bank = await startBank('after');
    const id = 'cancelled';
    void bank.call('charge', { reference: 'o-7' }, id);
    await bank.told('call.reconciling');
    bank.notify('notifications/cancelled', { requestId: id });
    expect(howOf(await bank.pay())).toBe('list_payments lists it as ch_1');
    expect(bank.lines.filter((line) => line.includes(`"id":"${id}"`))).toEqual([]);
    expect(bank.payments()).toHaveLength(1);
  });

  it('[R-16] [G-7] has progress at once and every 5 s while it is asked, each above the one before', async () => {
    const bank = await startBank('listless', { reconcile: { ...listed, timeoutMs: '1m' } });
    const params = { name: 'charge', arguments: { reference: 'o-7' }, _meta: { progressToken: 'p' } };
    void bank.ask('tools/call', params);
    const isProgress = ({ method }: Message) => method === 'notifications/progress';
    const first = await bank.seen(isProgress);
    expect(first.params).toMatchObject({
      progressToken: 'p',
      message: expect.stringMatching(/^asks list_payments whether charge happened, \S+ left$/) as string,
    });
    let last = first;
    for (let beat = 0; beat < 2; beat++) {
      const above = last.params?.['progress'] as number;
      bank.clock.skip(5000);
      last = await bank.seen((message) => isProgress(message) && Number(message.params?.['progress']) > above);
    }
  });

  it('[R-16] [O-9] says in `why` what is asked', async () => {
    const bank = await startBank('after');
    const answer = bank.pay();
    await bank.told('call.reconciling');
    expect(whyText(proxyWhy(bank.proxy))).toMatch(
      /^bank is connected to its client; 0 messages wait\.\n {2}bank charge \(bank-\d+\) for \S+: asks list_payments whether charge happened, \S+ left\n/,
    );
    await answer;
  });

  it('[R-16] is asked after by itself where several clients share the server: their equal calls do not wait', async () => {
    const bank = await startBank('after', { isShared: true });
    expect(howOf(await bank.pay())).toBe('list_payments lists it as ch_1');
    await bank.pay();
    expect(bank.payments()).toHaveLength(2);
  });
});

describe('a call of a client with an idempotency key', () => {
  it.each(['input.key', 'meta'] as const)('[R-16] carries the same one again after a crash, in %s', async (where) => {
    const bank = await startBank('after', { reconcile: { idempotencyKey: { in: where } } });
    const answer = await bank.pay();
    expect(JSON.parse(textIn(answer))).toMatchObject({ id: 'ch_1', reference: 'o-7' });
    expect(bank.payments()).toMatchObject([{ key: expect.stringMatching(/^[\da-f-]{36}$/) as string }]);
  });

  it('[R-16] keeps the key that the client gave', async () => {
    const bank = await startBank('after', { reconcile: { idempotencyKey: { in: 'input.key' } } });
    await bank.pay('o-7', { key: 'mine' });
    expect(bank.payments()).toMatchObject([{ key: 'mine' }]);
  });

  it('[R-16] [G-13] does not hide behind the error of a repetition that its first attempt may have taken effect', async () => {
    const bank = await startBank('refusing', { reconcile: { idempotencyKey: { in: 'input.key' } } });
    const answer = await bank.pay();
    expect(answer.result?.content?.map(({ text }) => text)).toEqual([
      'no more today',
      'An earlier attempt of this call lost its answer: outcome unknown; it may have taken effect, which repeating does not do twice.',
    ]);
    expect(failureOf(answer)).toEqual({ outcome: 'unknown', attempts: 2 });
  });
});

describe('the configuration of a rule of a proxy', () => {
  const starting = (reconcile: ReconcileOptions, tools: Record<string, ToolOptions> = {}) =>
    startProxy({ name: 'bank', policies: { integrations: { bank: { tools: { charge: { reconcile }, ...tools } } } } });

  it('[R-16] is refused at the start where it asks another server, or a tool that changes something, or wants a header', async () => {
    await expect(starting({ ...listed, integration: 'books' })).rejects.toThrow('a proxy asks its own server');
    await expect(starting(listed, { list_payments: { effect: 'mutating' } })).rejects.toThrow('readOnly');
    await expect(starting({ idempotencyKey: { in: 'header' } })).rejects.toThrow('input.NAME or meta');
  });

  it('[R-12] has the effect of a tool hold that the server does not declare', async () => {
    const bank = await startBank('after', { charge: { effect: 'idempotent' } });
    await bank.pay();
    expect(bank.payments()).toHaveLength(2);
  });
});
