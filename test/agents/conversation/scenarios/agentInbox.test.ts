import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { agentKind } from '../../../../agents/conversation/agent.ts';
import { createGateway, type Gateway, type Question, unwrap } from '../../../../src/index.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { hasSqlite } from '../../../store/startStore.ts';
import { SkippingClock } from '../../../support/skippingClock.ts';
import { temporaryDirectory } from '../../../support/temporary.ts';
import { scriptedQuery } from '../scriptedQuery.ts';

const minute = 60_000;
const anna = { by: 'anna', way: 'code' } as const;
let calls = 0;
/** What the SDK says of a call differs each time. */
const context = () => ({
  signal: new AbortController().signal,
  toolUseID: `toolu_${++calls}`,
  requestId: `r-${calls}`,
});

function withAgent(options: Parameters<typeof createGateway>[0]) {
  const sdk = scriptedQuery();
  const gateway = createGateway({ control: false, inbox: true, ...options, kinds: [agentKind] });
  onTestFinished(() => gateway.stop());
  const agent = gateway.agent('coder', { backend: 'claude', claude: { query: sdk.query } });
  return { gateway, sdk, agent };
}

/** A turn in which Claude asks for leave to use Bash, and no code of the host answers. */
async function startAsking() {
  const clock = new SimulatedClock();
  const { gateway, sdk, agent } = withAgent({ store: ':memory:', clock });
  await gateway.start();
  const turn = unwrap(await agent.start()).send('do it');
  await clock.settle();
  const answer = Promise.resolve(sdk.at(0).canUseTool('Bash', { command: 'ls' }, context()));
  await clock.settle();
  const [question] = (await gateway.inbox?.open()) ?? [];
  return { gateway, clock, answer, turn, question: question as Question };
}

describe('leave to use a tool, where nobody but the inbox is asked', () => {
  it('[G-17] [H-4] is given by who answers there', async () => {
    const { gateway, answer, question } = await startAsking();
    expect(question).toMatchObject({
      source: 'permission',
      asker: 'agent:coder',
      what: 'Bash: ls',
      detail: { tool: 'Bash', input: { command: 'ls' } },
    });
    await gateway.inbox?.answer(question.id, { decision: 'accept', ...anna });
    expect(await answer).toEqual({ behavior: 'allow', updatedInput: { command: 'ls' } });
  });

  it('[G-17] [H-4] is declined when nobody answers within 15 min, and when somebody declines', async () => {
    const { clock, answer } = await startAsking();
    await clock.advance(15 * minute);
    expect(await answer).toEqual({ behavior: 'deny', message: 'Nobody answered in time' });
    const other = await startAsking();
    await other.gateway.inbox?.answer(other.question.id, { decision: 'decline', reason: 'not today', ...anna });
    expect(await other.answer).toEqual({ behavior: 'deny', message: 'not today' });
  });
});

/** A gateway whose session has an agent do its work. */
async function startSession(here: { readonly store: string; readonly clock: SkippingClock }) {
  const started = withAgent(here);
  started.gateway.session('s1', {
    onMessage: async (_message, turn) => {
      const conversation = unwrap(await started.agent.start());
      await conversation.send('do it', { signal: turn.signal }).outcome;
    },
  });
  await started.gateway.start();
  const asks = async () => {
    await expect.poll(() => started.sdk.queries.length).toBe(1);
    await expect.poll(() => started.sdk.at(0).prompts.length).toBe(1);
    return Promise.resolve(started.sdk.at(0).canUseTool('Bash', { command: 'ls' }, context()));
  };
  return { ...started, asks };
}

const openIn = async (gateway: Gateway): Promise<Question> => {
  await expect.poll(() => gateway.inbox?.open()).toHaveLength(1);
  return (await gateway.inbox?.open())?.[0] as Question;
};

describe.skipIf(!hasSqlite)('leave that an agent asks for in a turn of a session', () => {
  it('[G-17] is asked for once, also where the message is delivered again by the next gateway', async () => {
    const clock = new SkippingClock();
    clock.stop();
    const here = { store: join(temporaryDirectory(), 'gateway.sqlite'), clock };
    const first = await startSession(here);
    await first.gateway.session('s1').send({ kind: 'user' });
    void first.asks();
    const before = await openIn(first.gateway);
    expect(before.session).toBe('s1');
    await first.gateway.stop();
    const second = await startSession(here);
    const answer = second.asks();
    const after = await openIn(second.gateway);
    expect(after.id).toBe(before.id);
    await expect.poll(() => second.gateway.why('s1').questions).toMatchObject([{ question: before.id }]);
    await second.gateway.inbox?.answer(before.id, { decision: 'accept', ...anna });
    expect(await answer).toMatchObject({ behavior: 'allow' });
  });
});
