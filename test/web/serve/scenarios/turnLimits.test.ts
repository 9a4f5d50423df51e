import { expect, it } from 'vitest';
import { TurnLimits } from '../../../../web/serve/agentTurns.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';

it('[E-1] [L-5] the limits of the agent that answers a turn are told by its events: its silence, its attempt, and all of it', () => {
  const clock = new SimulatedClock();
  const limits = { idleMs: 10, attemptMs: 100, overallMs: Number.POSITIVE_INFINITY };
  const known = new Map([
    ['one', limits],
    ['two', { ...limits, overallMs: 1_000 }],
  ]);
  const turn = new TurnLimits(clock, (agent) => known.get(agent), 'one');
  const dueIn = () => turn.now().map(({ of, rule, due }) => [of, rule, due - clock.now()]);
  clock.stall(4);
  expect(dueIn()).toEqual([
    ['one', 'idle_timeout', 6],
    ['one', 'attempt_timeout', 96],
  ]);
  turn.heard({ type: 'text', text: 'a' });
  turn.heard({ type: 'retrying', by: 'agent', attempt: 1, delayMs: 1, message: '' });
  expect(dueIn()).toEqual([
    ['one', 'idle_timeout', 10],
    ['one', 'attempt_timeout', 96],
  ]);
  turn.heard({ type: 'retrying', by: 'unwedge', attempt: 2, delayMs: 5, message: '' });
  expect(dueIn()[1]).toEqual(['one', 'attempt_timeout', 105]);
  clock.stall(4);
  turn.heard({ type: 'fell_back', from: 'one', to: 'two', kind: 'crash', message: '' });
  expect(dueIn()).toEqual([
    ['two', 'idle_timeout', 10],
    ['two', 'attempt_timeout', 100],
    ['two', 'overall_timeout', 1_000],
  ]);
});
