import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type ReconcileLimits } from '../../../../src/index.ts';
import { fixture } from '../../../actors/process/startProcess.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

/** A real server that is killed in the middle of its first charge. */
async function charge(when: 'before' | 'after', limits: ReconcileLimits = {}) {
  const directory = temporaryDirectory();
  const file = join(directory, 'payments');
  const gateway = createGateway({ control: false });
  onTestFinished(() => gateway.stop());
  const told: object[] = [];
  gateway.on('call.reconciled', (fact) => told.push(fact));
  const bank = gateway.mcpServer('bank', {
    command: process.execPath,
    args: [fixture('bankServer'), file, join(directory, 'killed'), when],
    tools: {
      charge: {
        reconcile: {
          tool: 'list_payments',
          items: 'payments',
          match: { reference: 'input.reference' },
          result: 'item',
          ...limits,
        },
      },
    },
  });
  await gateway.start();
  const outcome = await bank.call({ name: 'charge', arguments: { reference: 'o-7' } });
  const payments = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  return { outcome, payments, told };
}

describe('a real MCP server that is killed in a call', () => {
  it('[R-16] after its effect: the call is answered with what the next process lists, and is not made again', async () => {
    const { outcome, payments, told } = await charge('after');
    expect(outcome).toMatchObject({
      ok: true,
      reconciled: 'list_payments lists it as ch_1',
      value: { structuredContent: { id: 'ch_1', reference: 'o-7' } },
    });
    expect(payments).toHaveLength(1);
    expect(told).toMatchObject([{ verdict: 'done', tool: 'charge', late: false }]);
  });

  it('[R-16] before its effect: it is made again, where what it does ends with that process', async () => {
    const { outcome, payments, told } = await charge('before', { endsWithProcess: true });
    expect(outcome).toMatchObject({ ok: true, value: { content: [{ type: 'text' }] } });
    expect(payments).toHaveLength(1);
    expect(told).toMatchObject([{ verdict: 'not_done', how: 'list_payments does not list it' }]);
  });

  it('[R-16] and may have handed it on: that it is not listed says nothing, and it is not made again', async () => {
    const { outcome, payments, told } = await charge('before');
    const how = 'list_payments does not list it, and it may still happen';
    expect(outcome).toMatchObject({ ok: false, failure: { outcome: 'unknown', retryable: false, how } });
    expect(payments).toEqual([]);
    expect(told).toMatchObject([{ verdict: 'unknown', how }]);
  });

  it('[R-16] and has handed nothing on for as long as `notBefore`: it is made again', async () => {
    const { outcome, payments } = await charge('before', { notBefore: 300 });
    expect(outcome).toMatchObject({ ok: true });
    expect(payments).toHaveLength(1);
  });
});
