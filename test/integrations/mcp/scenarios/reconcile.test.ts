import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { fixture } from '../../../actors/process/startProcess.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';

/** A real server that is killed in the middle of its first charge. */
async function charge(when: 'before' | 'after') {
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
        },
      },
    },
  });
  await gateway.start();
  const outcome = await bank.call({ name: 'charge', arguments: { reference: 'o-7' } });
  const payments = readFileSync(file, 'utf8').trim().split('\n');
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

  it('[R-16] before its effect: it is made again, as that process can do it no more', async () => {
    const { outcome, payments, told } = await charge('before');
    expect(outcome).toMatchObject({ ok: true, value: { content: [{ type: 'text' }] } });
    expect(payments).toHaveLength(1);
    expect(told).toMatchObject([{ verdict: 'not_done', how: 'list_payments does not list it' }]);
  });
});
