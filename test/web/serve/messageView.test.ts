import { describe, expect, it } from 'vitest';
import { declinedBy } from '../../../web/serve/messageHandler.ts';
import { endedView, messageView, type MessageSources, recordView } from '../../../web/serve/messageView.ts';
import type { HistoryEntry } from '../../../src/sessions/history.ts';
import type { MessageRecord } from '../../../reader/storeReader.ts';

const id = 'serve:a-m1';
const begun = (turn: number): HistoryEntry => ({ type: 'message', turn, id, message: { kind: 'user' }, at: 0 });
const answered = (turn: number, value: unknown): HistoryEntry => ({
  ...{ type: 'tool_result', turn, call: `c${turn}`, at: 0 },
  result: { status: 'ok', value, retries: 0 },
});
const sources: MessageSources = { history: [], running: undefined, records: undefined, turns: [] };
const records = { session: 'serve:a', messages: [], calls: [], deadLetters: [] };
const waiting = { id, kind: 'user', state: 'waiting' as const, deliveries: 0, postedAt: 0 };
const turn = { turn: 1, message: id, kind: 'user', state: 'failed', deliveries: 1, postedAt: 0, calls: [] };

describe('what became of a message', () => {
  it.each<[string, Partial<MessageSources>, object | undefined]>([
    ['nobody knows it', {}, undefined],
    ['it waits', { records: { ...records, messages: [waiting] } }, { state: 'waiting' }],
    ['it is processed', { running: id, history: [begun(1)] }, { state: 'running' }],
    ['it was answered', { history: [begun(1), answered(1, 'yes')] }, { state: 'done', result: { value: 'yes' } }],
    ['its turn ended without an answer', { history: [begun(1)] }, { state: 'failed', error: 'Nobody answered it.' }],
    ['its end is still being written', { history: [begun(1)], turns: [turn] }, { state: 'running' }],
    [
      'its turn failed',
      { history: [begun(1)], turns: [{ ...turn, endedAt: 1, error: 'no agent' }] },
      { state: 'failed', error: 'no agent' },
    ],
    [
      'a hook declined it',
      { history: [begun(1)], turns: [{ ...turn, endedAt: 1, error: `${declinedBy}not here` }] },
      { state: 'declined', error: 'not here' },
    ],
    [
      'it was delivered twice: the last counts',
      { history: [begun(1), answered(1, 'first'), begun(2), answered(2, 'second')] },
      { state: 'done', result: { value: 'second' } },
    ],
    [
      'it is a dead letter',
      { history: [begun(1)], records: { ...records, deadLetters: [{ id, reason: 'poison' }] } },
      { state: 'dead', error: 'It is a dead letter: poison; nothing was called' },
    ],
    [
      'it is a dead letter whose call may have taken effect',
      {
        history: [begun(1), answered(1, 'yes'), begun(2)],
        records: { ...records, deadLetters: [{ id, reason: 'poison' }] },
      },
      { state: 'dead', error: 'It is a dead letter: poison', result: { value: 'yes' } },
    ],
  ])('[E-1] where %s', (_, of, view) => {
    expect([messageView(id, { ...sources, ...of })]).toMatchObject([view && { id, ...view }]);
  });

  it.each([
    [
      'an error of the tool',
      { status: 'error', error: 'no such file', retries: 0, recoverable: false },
      'no such file',
    ],
    [
      'an answer that says so',
      { status: 'ok', value: { isError: true, content: [{ type: 'text', text: 'no' }] }, retries: 0 },
      'no',
    ],
    ['one without words', { status: 'ok', value: { isError: true }, retries: 0 }, 'The tool answered with an error.'],
    [
      'the failure of an agent',
      { status: 'ok', value: { agent: 'x', failure: { message: 'too long' } }, retries: 0 },
      'too long',
    ],
  ] as const)('[E-1] %s is told as its error', (_, result, error) => {
    expect(endedView(id, result)).toMatchObject({ state: 'failed', error, result });
  });

  it('[E-1] a declined one has no result, and no other has none', () => {
    expect(endedView(id, undefined, `${declinedBy}not here`)).toEqual({ id, state: 'declined', error: 'not here' });
    expect(endedView(id, undefined, 'cut')).toEqual({ id, state: 'failed', error: 'cut' });
    expect(endedView(id, undefined)).toMatchObject({ id, state: 'failed' });
  });

  const ok = { status: 'ok', value: 'yes', retries: 0 } as const;
  it.each<[Partial<MessageRecord>, boolean, object]>([
    [{ state: 'waiting' }, true, { state: 'waiting' }],
    [{ state: 'taken' }, true, { state: 'running' }],
    // Nobody works on it: it is delivered again.
    [{ state: 'taken' }, false, { state: 'waiting' }],
    [{ state: 'done', result: ok }, true, { state: 'done', result: ok }],
    [{ state: 'done', result: { ...ok, value: { isError: true } } }, true, { state: 'failed' }],
    [{ state: 'done' }, true, { state: 'done' }],
    [{ state: 'failed', error: 'cut', result: ok }, true, { state: 'failed', error: 'cut' }],
    [{ state: 'failed', error: `${declinedBy}not here` }, true, { state: 'declined', error: 'not here' }],
    [{ state: 'failed' }, true, { state: 'failed', error: 'Why it failed is not known any more.' }],
    [{ state: 'dropped', error: 'by ann' }, true, { state: 'dead', error: 'It was dropped: by ann' }],
    [{ state: 'expired' }, true, { state: 'dead', error: 'It is a dead letter: expired; nothing was called' }],
    [{ state: 'poison', result: ok }, true, { state: 'dead', error: 'It is a dead letter: poison', result: ok }],
  ])('[E-1] [N-2] by the record alone: %o, its session elsewhere: %s', (record, isElsewhere, view) => {
    expect(recordView({ id, state: 'done', ...record }, isElsewhere)).toMatchObject({ id, ...view });
  });
});
