import { expect, it } from 'vitest';
import { describeTimeout, timedOut } from '../../../agents/codex/codexCalls.ts';
import type { FailureFacts } from '../../../src/policy/failures/failure.ts';
import { startThread } from './startCodex.ts';

const facts: FailureFacts = {
  kind: 'timeout',
  reason: 'idle_timeout',
  message: describeTimeout('idle_timeout', 300_000),
  outcome: 'unknown',
};

it('[F-27] a turn that Codex never began claims no interrupt', async () => {
  expect(timedOut(facts, undefined).message).toBe('Codex made no progress for 5m');
  const { thread, clock, heard } = await startThread({ 'turn/start': [[]] }, { policy: { idleMs: 1000 } });
  const turn = thread.send('hi');
  await clock.advance(1000);
  expect(await turn.outcome).toMatchObject({ failure: { message: 'Codex made no progress for 1s' } });
  expect(heard.filter(({ method }) => method === 'turn/interrupt')).toEqual([]);
});

it('[F-27] a turn that Codex has named is interrupted, and says so', async () => {
  const { thread, clock, heardOf } = await startThread({ 'turn/start': [[['usual']]] }, { policy: { idleMs: 1000 } });
  const turn = thread.send('hi');
  for await (const event of turn) if (event.type === 'turn.started') break;
  await clock.advance(1000);
  expect(await turn.outcome).toMatchObject({
    failure: { message: 'Codex made no progress for 1s; the turn is interrupted' },
  });
  expect(await heardOf('turn/interrupt')).toHaveLength(1);
});
