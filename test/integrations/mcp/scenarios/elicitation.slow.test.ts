import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway, type GatewayOptions, type Question, type ToolResult } from '../../../../src/index.ts';
import { fixture } from '../../../actors/mcp/mcpHarness.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';

const anna = { by: 'anna', way: 'code' } as const;

/** A server that asks a person in its one tool, called in a turn of a session. */
async function startCall(options: GatewayOptions = {}) {
  const clock = new SkippingClock();
  const gateway = createGateway({ clock, control: false, store: ':memory:', inbox: true, ...options });
  onTestFinished(() => gateway.stop());
  const policy = { limits: { overallMs: 60_000, attemptMs: 60_000 } };
  gateway.mcpServer('ev', { command: process.execPath, args: [fixture('mcpElicits')], policy });
  const outcomes: ToolResult<unknown>[] = [];
  gateway.session('s1', {
    onMessage: async (_message, turn) => void outcomes.push(await turn.tool('ev', 'deploy', {})),
  });
  await gateway.start();
  await gateway.session('s1').send({ kind: 'user' });
  const question = async (): Promise<Question> => {
    await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
    return (await gateway.inbox?.open())?.[0] as Question;
  };
  const text = async (): Promise<string> => {
    await expect.poll(() => outcomes).toHaveLength(1);
    return JSON.stringify(outcomes[0]);
  };
  return { gateway, question, text };
}

describe('an elicitation of a server, in code', () => {
  it('[G-17] is a question of the inbox, of the session whose turn has made the call', async () => {
    const { gateway, question, text } = await startCall();
    const { id, ...asked } = await question();
    expect(asked).toMatchObject({ source: 'elicitation', asker: 'ev', session: 's1', what: 'Deploy to production?' });
    await expect.poll(() => gateway.why('s1').questions).toMatchObject([{ question: id }]);
    await gateway.inbox?.answer(id, { decision: 'accept', value: { ticket: 'T-1' }, ...anna });
    expect(await text()).toContain('deployed for T-1');
  });

  it('[G-17] is none where no inbox is on: the server hears that nobody can be asked', async () => {
    const { text } = await startCall({ inbox: false });
    expect(await text()).toContain('the client cannot ask anybody');
  });
});
