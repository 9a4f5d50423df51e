import type { ReconcileOptions } from '../../../src/policy/reconcileRule.ts';
import type { Chance } from '../chance.ts';
import type { BankBounds } from './bank.ts';

/** What kind of rule a seed has. */
export type RuleKind = 'function' | 'data' | 'key';

export interface Ruling {
  readonly kind: RuleKind;
  readonly bounds: BankBounds;
  /** Whether the bank is a process of the gateway's, whose end is known. */
  readonly isLocal: boolean;
  readonly notBeforeMs: number | undefined;
  readonly timeoutMs: number;
  readonly attempts: number;
  readonly hold: 'input' | 'tool';
  /** Whether the data rule compares times, and has a result. */
  readonly since: boolean;
  readonly hasResult: boolean;
  /** Who is asked: the bank itself, or an integration of its own. */
  readonly asks: 'bank' | 'books';
}

/** A bank and what its rule vouches for: that it acts, and lists what it did, before `notBefore` has passed. */
export function randomRuling(chance: Chance): Ruling {
  const kind = chance.pick<RuleKind>(['function', 'data', 'key']);
  const isLocal = chance.happens(0.4);
  const actsWithinMs = chance.span(1, 60_000);
  // A process of our own lists what it has done at once, as its end makes what it lists final.
  const listsWithinMs = isLocal || chance.happens(0.5) ? 0 : chance.span(1, 10_000);
  return {
    kind,
    isLocal,
    bounds: {
      actsWithinMs,
      listsWithinMs,
      honoursKeys: kind === 'key',
      clockBehindMs: chance.happens(0.5) ? 0 : chance.span(1, 30_000),
    },
    notBeforeMs: chance.happens(0.75) ? actsWithinMs + listsWithinMs + chance.integer(2, 1000) : undefined,
    timeoutMs: chance.span(100, 10_000),
    attempts: chance.integer(1, 4),
    hold: chance.pick(['input', 'input', 'tool']),
    since: chance.happens(0.3),
    hasResult: chance.happens(0.6),
    asks: chance.pick(['bank', 'books']),
  };
}

/** The rule as a user writes it. @param probe - that of a rule that is a function. */
export function ruleOf(
  ruling: Ruling,
  probe: Extract<ReconcileOptions, { probe: unknown }>['probe'],
): ReconcileOptions {
  const { kind, isLocal, notBeforeMs, timeoutMs, attempts, hold, since, hasResult, asks } = ruling;
  if (kind === 'key') return { idempotencyKey: { in: 'input.key' } };
  const limits = { notBefore: notBeforeMs, endsWithProcess: isLocal, timeoutMs, attempts, hold };
  if (kind === 'function') return { ...limits, probe };
  return {
    ...limits,
    tool: 'list_payments',
    integration: asks,
    items: 'payments',
    match: { reference: 'input.reference', amount: 'input.amount' },
    since: since ? 'at' : undefined,
    result: hasResult ? 'item' : undefined,
  };
}
