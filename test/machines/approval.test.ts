import { describe, expect, it } from 'vitest';
import { createActor, fromCallback } from 'xstate';
import {
  type ApprovalEmitted,
  type ApprovalEvent,
  type ApprovalInput,
  approvalMachine,
} from '../../src/machines/approval.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

function startApproval(overallMs = 30_000) {
  const clock = new SimulatedClock();
  let released = 0;
  let asked: ApprovalInput | undefined;
  let send: (event: ApprovalEvent) => void = () => undefined;
  const logic = approvalMachine.provide({
    actors: {
      handler: fromCallback<ApprovalEvent, ApprovalInput>(({ sendBack, input: given }) => {
        send = sendBack;
        asked = given;
        return () => {
          released++;
        };
      }),
    },
  });
  const input = { approval: 'bash', request: 'approval:bash:1', action: 'ls', overallMs };
  const actor = createActor(logic, { clock, input });
  const emitted: ApprovalEmitted[] = [];
  actor.on('*', (event) => emitted.push(event));
  actor.start();
  return {
    actor,
    clock,
    emitted,
    send: (event: ApprovalEvent) => send(event),
    released: () => released,
    asked: () => asked,
  };
}

const answer = (decision: 'accept' | 'decline', reason?: string): ApprovalEvent => ({
  type: 'approval.answered',
  decision,
  reason,
  value: decision,
});

describe('an approval', () => {
  it('[H-4] is accepted by an answer that says so, and by nothing else', () => {
    const { actor, send, emitted } = startApproval();
    expect(actor.getSnapshot().value).toEqual({ asking: 'waiting' });
    send(answer('accept', 'fine'));
    expect(actor.getSnapshot()).toMatchObject({ value: 'accepted', output: { decision: 'accept', reason: 'fine' } });
    expect(emitted.map(({ type }) => type)).toEqual(['approval.requested', 'approval.completed']);
  });

  it('[H-4] is declined by an answer that says no', () => {
    const { actor, send } = startApproval();
    send(answer('decline', 'no'));
    expect(actor.getSnapshot()).toMatchObject({ value: 'declined', output: { decision: 'decline', reason: 'no' } });
    expect(actor.getSnapshot().output?.failure).toBeUndefined();
  });

  it('[H-4] hands its request to the slot, and tells both ends of it', () => {
    const { actor, asked, send, emitted } = startApproval();
    const { input } = actor.getSnapshot().context;
    expect(asked()).toBe(input);
    send(answer('decline', 'no'));
    const end = { decision: 'decline', reason: 'no', value: 'decline' };
    expect(emitted).toEqual([
      { type: 'approval.requested', input },
      { type: 'approval.completed', input, end },
    ]);
  });

  it('[H-4] is declined after 30 s without an answer, not before', async () => {
    const { actor, clock, released } = startApproval();
    await clock.advance(29_999);
    expect(actor.getSnapshot().status).toBe('active');
    await clock.advance(1);
    expect(actor.getSnapshot()).toMatchObject({
      value: 'declined',
      output: { decision: 'decline', failure: 'timeout' },
    });
    expect(released()).toBe(1);
  });

  it('[H-4] takes an answer that was there before a late timer was', () => {
    const { actor, send } = startApproval();
    actor.send({ type: 'xstate.after.deadline.approval.asking.waiting' } as never);
    expect(actor.getSnapshot().value).toEqual({ asking: 'judging' });
    send(answer('accept'));
    expect(actor.getSnapshot().value).toBe('accepted');
  });

  it.each([
    [
      { type: 'approval.failed', failure: 'crash', error: 'bug' },
      { failure: 'crash', error: 'bug' },
    ],
    [
      { type: 'approval.failed', failure: 'unreadable', error: 'what' },
      { failure: 'unreadable', error: 'what' },
    ],
  ] as const)('[H-4] is declined by %j', (event, end) => {
    const { actor, send } = startApproval();
    send(event);
    expect(actor.getSnapshot()).toMatchObject({ value: 'declined', output: { decision: 'decline', ...end } });
  });

  it.each([
    ['approval.cancel', 'cancelled'],
    ['shutdown', 'stopped'],
  ] as const)('[H-4] is declined by %s', (type, failure) => {
    const { actor } = startApproval();
    actor.send({ type });
    expect(actor.getSnapshot()).toMatchObject({ value: 'declined', output: { decision: 'decline', failure } });
  });

  it('[H-4] is declined when its slot is not filled', () => {
    const input = { approval: 'bash', request: '1', action: 'ls', overallMs: 10 };
    const actor = createActor(approvalMachine, { input });
    actor.start();
    expect(actor.getSnapshot()).toMatchObject({ value: 'declined', output: { decision: 'decline', failure: 'crash' } });
  });
});
