import { describe, expect, it } from 'vitest';
import { checkHistory } from './checkHistory.ts';
import type {
  CallEntry,
  ClaimEntry,
  HistoryRows,
  JournalEntry,
  LeaseChange,
  MessageEntry,
  MessageRow,
  SenderEntry,
} from './journalEntry.ts';
import { describeViolation } from './violation.ts';

const session = 's';

function claim(node: string, token: number, waiting: number[] = [], more: Partial<ClaimEntry> = {}): ClaimEntry {
  return { type: 'claim', node, session, token, waiting, ...more };
}

function message(
  type: MessageEntry['type'],
  node: string,
  token: number,
  number: number,
  more: Partial<MessageEntry> = {},
): MessageEntry {
  return { type, node, session, token, message: number, ...more };
}

function call(type: CallEntry['type'], node: string, token: number, id: string, result?: string): CallEntry {
  return { type, node, session, token, call: id, result };
}

function sender(type: SenderEntry['type'], node: string, key: string): SenderEntry {
  return { type, node, session, key };
}

function row(number: number, state: string, more: Partial<MessageRow> = {}): MessageRow {
  return { session, number, key: null, state, deliveries: 1, ...more };
}

function change(token: number, owner: string | null, more: Partial<LeaseChange> = {}): LeaseChange {
  return { session, token, owner, at: 1000, until: 2000, before: null, ...more };
}

/** The rules that were broken, each with the entries that show it. */
function refuted(entries: readonly JournalEntry[], rows?: HistoryRows): readonly string[] {
  return checkHistory(entries, rows).violations.map(({ rule, evidence }) => `${rule} ${evidence.length}`);
}

/** A message from its post to its end. */
function processed(node: string, token: number, number: number): readonly JournalEntry[] {
  return [
    message('post', node, token, number),
    message('take', node, token, number),
    message('end', node, token, number),
  ];
}

describe('the history checker', () => {
  it('[N-4] finds nothing in a session that goes from node to node', () => {
    const entries = [
      claim('a', 1),
      ...processed('a', 1, 1),
      message('post', 'a', 1, 2),
      message('take', 'a', 1, 2),
      call('dispatch', 'a', 1, 'c-1'),
      // It is killed here.
      claim('b', 2, [2], { pending: ['c-1'] }),
      message('take', 'b', 2, 2),
      call('dispatch', 'b', 2, 'c-2'),
      call('settle', 'b', 2, 'c-2', 'two'),
      message('end', 'b', 2, 2),
      sender('send', 'a', 'k'),
      sender('accepted', 'a', 'k'),
      sender('reply', 'a', 'k'),
    ];
    const rows: HistoryRows = {
      messages: [row(1, 'done'), row(2, 'done', { key: 'k', deliveries: 2 })],
      calls: [
        { id: 'c-1', session, state: 'settled', result: 'lost' },
        { id: 'c-2', session, state: 'settled', result: 'two' },
      ],
      leases: [
        change(1, 'a'),
        change(2, 'b', { at: 2500, until: 3500, before: { token: 1, owner: 'a', until: 2000 } }),
      ],
      writes: [{ session, table: 'message', row: '2', writer: 'b', owner: 'b', token: 2 }],
      leaseMs: 1000,
    };
    const turnedRound = [...entries.filter(({ node }) => node === 'b'), ...entries.filter(({ node }) => node === 'a')];
    expect(checkHistory(turnedRound, rows)).toEqual({
      violations: [],
      sessions: 1,
      claims: 2,
      accepted: 1,
      ended: 2,
      calls: 2,
    });
  });

  it('[N-4] takes a write of which nobody heard for made or not', () => {
    const begun = [claim('a', 1), message('post', 'a', 1, 1), message('take', 'a', 1, 1)];
    const end = message('end', 'a', 1, 1, { unheard: true });
    expect(refuted([...begun, end, claim('b', 2)], { messages: [row(1, 'done')] })).toEqual([]);
    expect(refuted([...begun, end, claim('b', 2, [1])], { messages: [row(1, 'waiting')], isDrained: false })).toEqual(
      [],
    );
    expect(refuted([...begun, claim('b', 2)], { messages: [row(1, 'done')] })).toEqual([]);
  });

  describe('one_owner', () => {
    it('[N-4] finds an end that was written after the session was taken over', () => {
      const begun = [claim('a', 1), message('post', 'a', 1, 1), message('take', 'a', 1, 1)];
      const taken = [claim('b', 2, [1]), message('take', 'b', 2, 1)];
      const stale = message('end', 'a', 1, 1);
      const { violations } = checkHistory([...begun, stale, ...taken]);
      expect(violations[0]).toEqual({
        rule: 'one_owner',
        session,
        says: 'message 1 was brought to its end, and is found without one by the next owner',
        evidence: [stale, claim('b', 2, [1])],
      });
    });

    it('[N-4] finds a message that was posted after the session was taken over', () => {
      const entries = [claim('a', 1), message('post', 'a', 1, 1), claim('b', 2), claim('c', 3, [1])];
      expect(refuted(entries)).toEqual(['one_owner 3']);
    });

    it('[N-4] finds a call that was settled after the session was taken over', () => {
      const made = [claim('a', 1), call('dispatch', 'a', 1, 'c'), call('settle', 'a', 1, 'c', 'yes')];
      expect(refuted([...made, claim('b', 2, [], { pending: ['c'] })])).toEqual(['one_owner 2']);
    });

    it('[N-4] finds a write that the database saw from somebody else', () => {
      const write = { session, table: 'message', row: '1', writer: 'a', owner: 'b', token: 2 } as const;
      expect(refuted([], { writes: [write] })).toEqual(['one_owner 1']);
      expect(refuted([], { writes: [{ ...write, owner: null }] })).toEqual(['one_owner 1']);
      expect(refuted([], { writes: [{ ...write, owner: null, table: 'call' }] })).toEqual([]);
    });
  });

  it('[N-4] finds a token that two nodes have, that was given out twice, or that fell', () => {
    expect(refuted([claim('a', 1), claim('b', 1)])).toEqual(['token_grows 2', 'token_grows 2']);
    expect(refuted([claim('a', 1), claim('a', 1)])).toEqual(['token_grows 2']);
    const before = { token: 2, owner: null, until: 500 };
    expect(refuted([], { leases: [change(1, 'a', { before })] })).toEqual(['token_grows 1', 'token_grows 1']);
    expect(refuted([], { leases: [change(2, 'a', { before })] })).toEqual(['token_grows 1']);
    expect(refuted([], { leases: [change(3, 'a', { before })] })).toEqual([]);
  });

  it('[N-4] finds a lease that was taken before its end, or given for too long: by the clock of a node', () => {
    const before = { token: 1, owner: 'a', until: 1001 };
    expect(refuted([], { leases: [change(2, 'b', { before })] })).toEqual(['lease_by_database 1']);
    expect(refuted([], { leases: [change(2, 'b', { before: { ...before, until: 1000 } })] })).toEqual([]);
    expect(refuted([], { leases: [change(2, 'b')], leaseMs: 999 })).toEqual(['lease_by_database 1']);
    expect(refuted([], { leases: [change(2, 'b')], leaseMs: 1000 })).toEqual([]);
  });

  describe('nothing_lost', () => {
    it('[I-5] finds a message that was acknowledged before it was committed', () => {
      expect(refuted([claim('a', 1), message('post', 'a', 1, 1)], { messages: [] })).toEqual(['nothing_lost 1']);
      expect(refuted([sender('accepted', 'a', 'k')], { messages: [] })).toEqual(['nothing_lost 1']);
      expect(refuted([sender('accepted', 'a', 'k')], { messages: [row(1, 'done', { key: 'k' })] })).toEqual([]);
    });

    it('[I-5] takes a message that the next owner did not find for forgotten only where all that are older are forgotten too', () => {
      const entries = [claim('a', 1), ...processed('a', 1, 1), message('post', 'a', 1, 2), claim('b', 2)];
      expect(refuted(entries, { messages: [] })).toEqual([]);
      expect(refuted(entries, { messages: [row(1, 'done')] })).toEqual(['nothing_lost 1']);
      expect(refuted(entries, { messages: [row(1, 'done', { key: 'k' })] })).toEqual([]);
    });

    it('[I-5] finds a message that never comes to its end', () => {
      const entries = [claim('a', 1), message('post', 'a', 1, 1)];
      expect(refuted(entries, { messages: [row(1, 'taken')] })).toEqual(['nothing_lost 2']);
      expect(refuted(entries, { messages: [row(1, 'taken')], isDrained: false })).toEqual([]);
    });

    it('[I-5] finds an end that was confirmed and is gone, and one that was told and is none', () => {
      const entries = [claim('a', 1), ...processed('a', 1, 1)];
      expect(refuted(entries, { messages: [row(1, 'taken')], isDrained: false })).toEqual(['nothing_lost 2']);
      const told = [sender('reply', 'b', 'k')];
      const rows = { messages: [row(1, 'waiting', { key: 'k' })], isDrained: false };
      expect(refuted(told, rows)).toEqual(['nothing_lost 2']);
    });
  });

  describe('nothing_doubled', () => {
    it('[I-5] finds a message that is processed to its end twice', () => {
      const entries = [claim('a', 1), ...processed('a', 1, 1), message('end', 'a', 1, 1)];
      expect(refuted(entries)).toEqual(['nothing_doubled 2']);
    });

    it('[I-5] finds a message that is delivered twice to one owner that was not killed', () => {
      const begun = [claim('a', 1), message('post', 'a', 1, 1), message('take', 'a', 1, 1)];
      expect(refuted([...begun, message('take', 'a', 1, 1)])).toEqual(['nothing_doubled 2']);
      expect(refuted([...begun, message('put_back', 'a', 1, 1), message('take', 'a', 1, 1)])).toEqual([]);
    });

    it('[I-5] finds a delivery that was not counted', () => {
      const entries = [claim('a', 1), ...processed('a', 1, 1)];
      expect(refuted(entries, { messages: [row(1, 'done', { deliveries: 0 })] })).toEqual(['nothing_doubled 2']);
      const again = [claim('b', 2, [1]), message('take', 'b', 2, 1), message('end', 'b', 2, 1)];
      const cut = (begun: boolean) => [...entries.slice(0, 3), message('put_back', 'a', 1, 1, { begun }), ...again];
      expect(refuted(cut(false), { messages: [row(1, 'done')] })).toEqual([]);
      expect(refuted(cut(true), { messages: [row(1, 'done')] })).toEqual(['nothing_doubled 2']);
    });

    it('[I-5] takes a delivery that an owner was putting back as it was killed for counted or not', () => {
      const asked = message('put_back', 'a', 1, 1, { begun: false, unheard: true });
      const [claimed, ...made] = [claim('a', 1), message('post', 'a', 1, 1), message('take', 'a', 1, 1)];
      const heard = message('put_back', 'a', 1, 1, { begun: false });
      for (const deliveries of [0, 1]) {
        expect(
          refuted([claimed, asked, ...made], { messages: [row(1, 'waiting', { deliveries })], isDrained: false }),
        ).toEqual([]);
      }
      const again = [claim('b', 2, [1]), message('take', 'b', 2, 1), message('end', 'b', 2, 1)];
      const both = [claimed, ...made, asked, heard, ...again];
      expect(refuted(both, { messages: [row(1, 'done', { deliveries: 0 })] })).toEqual(['nothing_doubled 2']);
    });

    it('[I-5] finds a key that two messages of a session have', () => {
      const rows = { messages: [row(1, 'done', { key: 'k' }), row(2, 'done', { key: 'k' })] };
      expect(refuted([], rows)).toEqual(['nothing_doubled 2']);
    });
  });

  it('[G-11] takes a call that is not there any more for forgotten only where it was over, and all that are older are forgotten too', () => {
    const made = [claim('a', 1), call('dispatch', 'a', 1, 'c')];
    expect(refuted(made, { calls: [] })).toEqual(['one_result 1']);
    expect(refuted([...made, claim('b', 2)], { calls: [] })).toEqual([]);
    expect(refuted([...made, claim('b', 2, [], { pending: ['c'] })], { calls: [] })).toEqual([]);
    expect(refuted([...made, call('settle', 'a', 1, 'c', 'yes')], { calls: [] })).toEqual([]);
    expect(refuted([...made, { ...call('settle', 'a', 1, 'c', 'yes'), unheard: true }], { calls: [] })).toEqual([]);
    const older = [claim('a', 1), call('dispatch', 'a', 1, 'b'), call('settle', 'a', 1, 'b', 'yes'), ...made.slice(1)];
    const kept = { id: 'b', session, state: 'settled', result: 'yes' };
    expect(refuted([...older, call('settle', 'a', 1, 'c', 'yes')], { calls: [kept] })).toEqual(['one_result 1']);
    expect(refuted([...older, claim('b', 2)], { calls: [kept] })).toEqual(['one_result 1']);
  });

  it('[G-11] finds a call without a result, with two, with another one, or that was made twice', () => {
    const made = [claim('a', 1), call('dispatch', 'a', 1, 'c')];
    const settled = [...made, call('settle', 'a', 1, 'c', 'yes')];
    const kept = { id: 'c', session, state: 'settled', result: 'yes' };
    expect(refuted(settled, { calls: [kept] })).toEqual([]);
    expect(refuted(made, { calls: [] })).toEqual(['one_result 1']);
    expect(refuted(made, { calls: [{ ...kept, state: 'pending', result: null }] })).toEqual(['one_result 2']);
    expect(refuted(settled, { calls: [{ ...kept, result: 'no' }] })).toEqual(['one_result 2']);
    expect(refuted([...settled, claim('b', 2), call('settle', 'b', 2, 'c', 'no')])).toEqual(['one_result 2']);
    expect(refuted([...settled, claim('b', 2), call('dispatch', 'b', 2, 'c')])).toEqual(['one_result 2']);
  });

  it('[N-4] finds a message that is delivered before an earlier one', () => {
    const posted = [claim('a', 1), message('post', 'a', 1, 1), message('post', 'a', 1, 2)];
    expect(refuted([...posted, message('take', 'a', 1, 2)])).toEqual(['in_order 2']);
    expect(refuted([...posted, message('take', 'a', 1, 1), message('take', 'a', 1, 2)])).toEqual([]);
  });

  it('[N-4] knows of a delivery whose answer came before that to the post', () => {
    const taken = message('take', 'a', 1, 1, { unheard: true });
    const posted = [message('post', 'a', 1, 1), message('post', 'a', 1, 2), message('take', 'a', 1, 2)];
    expect(refuted([claim('a', 1), taken, ...posted])).toEqual([]);
    expect(refuted([claim('a', 1), { ...taken, message: 3 }, ...posted])).toEqual(['in_order 2']);
    const ofAnother = { ...taken, node: 'b', token: 2 };
    expect(
      refuted([claim('b', 2), ofAnother, claim('a', 3), ...posted.map((each) => ({ ...each, node: 'a', token: 3 }))]),
    ).toEqual(['in_order 2']);
  });

  it('[N-4] lets a message that came by another node be begun behind a later one that came directly, until a claim has found both', () => {
    const posted = [claim('a', 1), message('post', 'a', 1, 1, { isMail: true }), message('post', 'a', 1, 2)];
    expect(refuted([...posted, message('take', 'a', 1, 2)])).toEqual([]);
    expect(refuted([...posted, claim('b', 2, [1, 2]), message('take', 'b', 2, 2)])).toEqual(['in_order 2']);
  });

  it('[N-4] finds two messages of one sender that changed places', () => {
    const messages = [row(2, 'done', { key: 'one' }), row(1, 'done', { key: 'two' })];
    const one = [sender('send', 'a', 'one'), sender('accepted', 'a', 'one')];
    const two = [sender('send', 'a', 'two'), sender('accepted', 'a', 'two')];
    expect(refuted([...one, ...two], { messages })).toEqual(['in_order 3']);
    // Both were on their way at once.
    expect(refuted([...one.slice(0, 1), ...two, ...one.slice(1)], { messages })).toEqual([]);
    expect(refuted([...one, ...two.map((each) => ({ ...each, sender: 'b' }))], { messages })).toEqual([]);
  });

  it('prints what shows a violation', () => {
    const [violation] = checkHistory([sender('accepted', 'a', 'k')], { messages: [] }).violations;
    if (violation === undefined) throw new Error('Expected a violation');
    expect(describeViolation(violation)).toBe(
      'nothing_lost in s: k was acknowledged, and is nowhere\n  {"type":"accepted","node":"a","session":"s","key":"k"}',
    );
  });
});
