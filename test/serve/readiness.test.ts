import { describe, expect, it } from 'vitest';
import { type Progressing, readinessOf, type ReadinessParts } from '../../src/serve/readiness.ts';

const session: Progressing = { id: 'serve:a', oldestWaitMs: 0, busy: false, heldElsewhere: false };
const well: ReadinessParts = { phase: 'running', keeps: true, sessions: [session], isFull: false };

describe('readiness', () => {
  it.each<[string, Partial<ReadinessParts>, RegExp | undefined]>([
    ['all is well', {}, undefined],
    ['it starts', { phase: 'starting' }, /starting/],
    ['it stops', { phase: 'stopping' }, /stopping/],
    ['the store is out of order', { keeps: false }, /store is out of order/],
    [
      'a message waits for a turn that works',
      { sessions: [{ ...session, oldestWaitMs: 60_000, busy: true }] },
      undefined,
    ],
    ['no further session can be held', { isFull: true }, /as many sessions as it may/],
    ['a message has come just now', { sessions: [{ ...session, oldestWaitMs: 30_000 }] }, undefined],
    ['nothing works on a message', { sessions: [{ ...session, oldestWaitMs: 30_001 }] }, /serve:a has waited for 30s/],
    ['another process has it', { sessions: [{ ...session, oldestWaitMs: 60_000, heldElsewhere: true }] }, undefined],
  ])('[E-1] where %s', (_, parts, reason) => {
    const { ready, reasons } = readinessOf({ ...well, ...parts });
    expect(ready).toBe(reason === undefined);
    expect(reasons.join('\n')).toMatch(reason ?? /^$/);
  });

  it('[E-1] names a few of many sessions that stand still', () => {
    const sessions = Array.from({ length: 100 }, () => ({ ...session, oldestWaitMs: 60_000 }));
    expect(readinessOf({ ...well, sessions }).reasons).toHaveLength(10);
  });
});
