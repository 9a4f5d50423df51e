import { AttemptError, type EffectOutcome, type FailureKind } from '../../src/policy/failures/failure.ts';
import type { Chance } from './chance.ts';

/** Something an operation throws, and what the runtime must make of it. */
export interface Fault {
  readonly thrown: unknown;
  readonly kind: FailureKind;
  readonly outcome: EffectOutcome;
  /** When the other side asks not to be called before, in ms. */
  readonly hintMs?: number;
  /** What the breaker makes of it, where that is not as its kind says. */
  readonly ignored?: boolean;
  /** What it answered, where a stall of ours may make of the same kind what is no answer. */
  readonly status?: number;
}

export type FaultMaker = (chance: Chance, maxPauseMs: number) => Fault;

const fault = (thrown: unknown, kind: FailureKind, outcome: EffectOutcome = 'unknown'): Fault => ({
  thrown,
  kind,
  outcome,
});

const withCode = (code: string | number, more: object = {}): Error =>
  Object.assign(new Error(`fault ${code}`), { code, ...more });

/** No usable answer: what a flaky or dead integration throws. */
export const outages: readonly FaultMaker[] = [
  () => fault(withCode('ECONNRESET'), 'transient'),
  () => fault(withCode('ECONNREFUSED'), 'transient', 'not_started'),
  () => fault(new AggregateError([withCode('ENOTFOUND')], 'all failed'), 'transient', 'not_started'),
  () => fault(new Error('outer', { cause: withCode('EPIPE') }), 'transient'),
  () => fault(new Error('gateway closed (1012)'), 'transient'),
  () => ({ ...fault({ status: 503 }, 'transient', 'failed'), status: 503 }),
  () => ({ ...fault({ status: 502, message: 'bad gateway' }, 'transient'), status: 502 }),
  () => fault({ status: 529 }, 'overloaded', 'failed'),
  () => fault(Object.assign(new Error('slow'), { name: 'TimeoutError' }), 'timeout'),
  () => fault(new AttemptError({ kind: 'crash', message: 'gone', outcome: 'unknown' }), 'crash'),
  () => fault(new AttemptError({ kind: 'protocol', message: 'no sense', outcome: 'unknown' }), 'protocol'),
  () => fault(withCode('ENOENT', { syscall: 'spawn nothing' }), 'spawn', 'not_started'),
  () => ({ ...fault(withCode('E2BIG', { syscall: 'spawn x' }), 'spawn', 'not_started'), ignored: true }),
];

/** The other side answers, with an error. */
export const answers: readonly FaultMaker[] = [
  () => fault({ status: 401 }, 'auth', 'failed'),
  () => fault({ status: 404 }, 'permanent', 'failed'),
  () => fault(withCode(-32602), 'permanent', 'failed'),
];

/** The other side asks to be left alone for a while. */
export const throttles: readonly FaultMaker[] = [
  () => fault({ status: 429 }, 'rate_limit', 'failed'),
  (chance, maxPauseMs) => hinted(chance.integer(1, Math.max(1, Math.floor(maxPauseMs))), maxPauseMs),
  (chance, maxPauseMs) => hinted(Math.ceil(maxPauseMs) + chance.span(1, 600_000), maxPauseMs),
  () => fault({ status: 402 }, 'quota', 'failed'),
];

/** Things that are hard to look at. */
export const oddities: readonly FaultMaker[] = [
  () => fault(undefined, 'unknown'),
  () => fault(null, 'unknown'),
  () => fault(0, 'unknown'),
  () => fault('', 'unknown'),
  () => fault(Symbol('thrown'), 'unknown'),
  () => fault(() => undefined, 'unknown'),
  () => fault(Object.create(null), 'unknown'),
  () => fault(Object.assign(new Error('left'), { name: 'AbortError' }), 'cancelled', 'cancelled'),
  () => fault(cyclic(), 'unknown'),
  () => fault(throwing('message'), 'unknown'),
  () => fault(throwing('stack'), 'unknown'),
  () => fault(throwing('code'), 'unknown'),
  () => fault(Proxy.revocable({}, {}).proxy, 'unknown'),
  () => fault(revoked(), 'unknown'),
];

function hinted(hintMs: number, maxPauseMs: number): Fault {
  const kind = hintMs > maxPauseMs ? 'quota' : 'rate_limit';
  return { ...fault({ status: 429, headers: { 'Retry-After-Ms': `${hintMs}` } }, kind, 'failed'), hintMs };
}

function cyclic(): Error {
  const error = new Error('round and round');
  error.cause = error;
  return error;
}

function throwing(key: string): Error {
  return Object.defineProperty(new Error('hostile'), key, {
    get() {
      throw new Error(`${key} cannot be read`);
    },
  });
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
