import { describe, expect, it } from 'vitest';
import type { ControlAnswer } from '../../operator/client.ts';
import type { Order } from '../../operator/order.ts';
import { letterAfter, unansweredText } from '../../operator/unknownOrder.ts';

const failed = (reason: 'lost' | 'timeout' | 'refused' | 'absent', message = ''): ControlAnswer => ({
  ok: false,
  reason,
  message,
});
const send: Order = { order: 'send_again', name: 's', target: 's-m1', by: 'anna' };
const reader = (isDead: boolean, events: readonly { type: string; metadata: object }[] = []) => ({
  deadLetters: async () =>
    isDead
      ? [
          {
            id: 's-m1',
            session: 's',
            kind: 'user',
            reason: 'poison',
            deliveries: 3,
            postedAt: 0,
            again: [],
            canSend: true,
          },
        ]
      : [],
  events: async () =>
    events.map((event) => ({ id: 1, at: 0, category: 'operator', ...event, metadata: { ...event.metadata } })),
});

describe('an order that was sent and not answered', () => {
  it.each([
    ['restart', 'unwedge status'],
    ['isolate', 'unwedge status'],
    ['cancel', "unwedge why 'a b'"],
    ['fire', "unwedge why 'a b'"],
    ['drop', 'unwedge letters'],
  ] as const)('[O-13] is not known to be done, and %s says where to look', (order, command) => {
    expect(unansweredText(failed('lost'), { order, name: 'a b' })).toBe(
      `The gateway closed the connection before it answered: whether it was done is not known; look with \`${command}\`.`,
    );
  });

  it('[O-13] says so of an answer that did not come in time, and nothing of what was refused or never sent', () => {
    expect(unansweredText(failed('timeout', 'no answer within 2000 ms'), send)).toMatch(
      /^The gateway gave no answer within 2000 ms: whether/,
    );
    expect(unansweredText(failed('refused'), send)).toBeUndefined();
    expect(unansweredText(failed('absent'), send)).toBeUndefined();
    expect(unansweredText({ ok: true, value: 1 }, send)).toBeUndefined();
  });

  it('[O-13] about a dead letter is looked up', async () => {
    const closed = 'The gateway closed the connection before it answered';
    expect(await letterAfter(failed('lost'), send, reader(true))).toEqual({
      ok: false,
      text: `${closed}. It was not done: s-m1 is a dead letter still.`,
    });
    expect(await letterAfter(failed('timeout', 'no answer'), send, reader(true))).toMatchObject({
      text: 'The gateway gave no answer. It was not done so far: s-m1 is a dead letter still.',
    });
    const sent = { type: 'sent_again', metadata: { message: 's-m1', as: 's-m2' } };
    expect(await letterAfter(failed('lost'), send, reader(false, [sent]))).toEqual({
      ok: true,
      text: `s-m1 was sent again as s-m2. ${closed}.`,
    });
    const dropped = { type: 'dropped', metadata: { message: 's-m1' } };
    expect(await letterAfter(failed('lost'), { ...send, order: 'drop' }, reader(false, [dropped]))).toMatchObject({
      ok: true,
    });
    expect(await letterAfter(failed('lost'), send, reader(false, [dropped]))).toEqual({
      ok: false,
      text: `${closed}: what became of s-m1 is not on record.`,
    });
    expect(await letterAfter(failed('refused'), send, reader(true))).toBeUndefined();
  });
});
