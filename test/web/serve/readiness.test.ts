import { describe, expect, it } from 'vitest';
import { readinessOf, type ReadinessParts } from '../../../web/serve/readiness.ts';

const well: ReadinessParts = { phase: 'running', keeps: true, untaken: [], isFull: false };

describe('readiness', () => {
  it.each<[string, Partial<ReadinessParts>, RegExp | undefined]>([
    ['all is well', {}, undefined],
    ['it starts', { phase: 'starting' }, /starting/],
    ['it stops', { phase: 'stopping' }, /stopping/],
    ['the store is out of order', { keeps: false }, /store is out of order/],
    ['no further session can be held', { isFull: true }, /as many sessions as it may/],
    ['a message has come just now', { untaken: [{ session: 'serve:a', waitMs: 30_000, here: true }] }, undefined],
    [
      'nobody takes a message',
      { untaken: [{ session: 'serve:a', waitMs: 30_001, here: true }] },
      /serve:a has waited for 30s/,
    ],
    [
      'a message waits for a session of others',
      { untaken: [{ session: 'x', waitMs: 90_000, here: false }] },
      undefined,
    ],
  ])('[E-1] [N-6] where %s', (_, parts, reason) => {
    const { ready, reasons } = readinessOf({ ...well, ...parts });
    expect(ready).toBe(reason === undefined);
    expect(reasons.join('\n')).toMatch(reason ?? /^$/);
  });
});
