import type { IntegrationPolicy } from '../policy/policy.ts';
import { Attempt } from './attempt.ts';
import { Call, type CallWatcher } from './call.ts';
import type { CallSettings } from './callSettings.ts';

/**
 * The calls of an integration that have an attempt in flight, in the order of their dispatch. A ring through the calls themselves: a
 * `Set` would hash each call, and copy itself again and again while 10,000 of them pile up.
 */
export class CallsInFlight<I, O> {
  size = 0;
  /** Beginning and end of the ring: no call. */
  readonly #ends: Call<I, O>;

  /** @param now - monotonic time in ms. */
  constructor(watcher: CallWatcher<I, O>, policy: IntegrationPolicy, now: number) {
    const ends = neverMade(watcher, policy, now);
    this.#ends = ends;
    ends.previous = ends;
    ends.next = ends;
  }

  /** A call must not be in it yet. */
  add(call: Call<I, O>): void {
    const ends = this.#ends;
    const last = ends.previous ?? ends;
    call.previous = last;
    call.next = ends;
    last.next = call;
    ends.previous = call;
    this.size++;
  }

  /** Does nothing when it is not in it. */
  delete(call: Call<I, O>): void {
    const { previous, next } = call;
    if (previous === undefined || next === undefined) return;
    previous.next = next;
    next.previous = previous;
    call.previous = undefined;
    call.next = undefined;
    this.size--;
  }

  /** As of now. */
  list(): readonly Call<I, O>[] {
    const calls: Call<I, O>[] = [];
    for (let call = this.#ends.next; call !== undefined && call !== this.#ends; call = call.next) calls.push(call);
    return calls;
  }
}

/**
 * A row with an attempt and its particulars, as they are when a call begins. V8 forgets the hidden class of objects when it collects
 * while there is none of them, and with it all the code it has compiled for them: without these, calls took three times as long after
 * each collection.
 */
function neverMade<I, O>(watcher: CallWatcher<I, O>, { limits, retry }: IntegrationPolicy, now: number): Call<I, O> {
  const nothing = { effect: undefined, label: undefined, session: undefined, signal: undefined, fallback: undefined };
  const settings: CallSettings<I, O> = { ...limits, ...nothing, retry };
  const call = new Call<I, O>(watcher, 0, undefined as I, settings, now, () => undefined);
  call.attempt = new Attempt(call, { generation: -1 }, limits.attemptMs, now);
  call.attempt.ownParticulars();
  return call;
}
