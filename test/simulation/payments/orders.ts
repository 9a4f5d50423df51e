import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Judge } from '../judge.ts';
import type { Payment } from './bank.ts';
import type { SimulatedFile } from './simulatedFile.ts';

/** One thing to be paid once. */
export interface Order {
  readonly reference: string;
  readonly session: string;
  readonly payments: Payment[];
  /** Its calls of the session, in order. */
  readonly calls: string[];
  /** Calls that were answered as not made: none of them may have an effect, then or later. */
  readonly disclaimed: Set<string>;
  /** Its agent begins anew with each delivery of its message, as most handlers do: it makes its call whatever it did before. */
  readonly isForgetful: boolean;
  /** Its agent repeated a call of which nobody could tell it what became of it. */
  isRisky: boolean;
}

/** Outcomes that say nothing of an effect. */
export const unclear: ReadonlySet<string> = new Set(['unknown', 'cancelled']);

/** Outcomes after which no attempt has had an effect, and none will. */
const noEffect: ReadonlySet<string> = new Set(['not_done', 'not_started', 'failed', 'answered']);

/** What the outcome of a result is: `answered` for an error of the other side, after which no attempt has had an effect. */
export function outcomeOf(result: ToolResult): string {
  if (result.status === 'ok') return 'ok';
  return 'synthetic' in result ? result.outcome : 'answered';
}

/** The books of the agents' orders: what was asked, what they were told, and whether that was true. */
export class Orders {
  readonly #orders = new Map<string, Order>();
  readonly #ofCall = new Map<string, Order>();
  /** What was found out about calls. */
  readonly #verdicts = new Map<string, string>();
  /** In which life of the gateway a call got its result. */
  readonly #settledIn = new Map<string, number>();
  readonly #file: SimulatedFile;
  readonly #judge: Judge;

  constructor(file: SimulatedFile, judge: Judge) {
    this.#file = file;
    this.#judge = judge;
  }

  make(reference: string, session: string, isForgetful: boolean): void {
    const none = { payments: [], calls: [], disclaimed: new Set<string>() };
    const order: Order = { reference, session, isForgetful, ...none, isRisky: false };
    this.#orders.set(reference, order);
  }

  of(reference: string): Order {
    return this.#orders.get(reference) as Order;
  }

  list(): readonly Order[] {
    return [...this.#orders.values()];
  }

  called(order: Order, call: string): void {
    order.calls.push(call);
    this.#ofCall.set(call, order);
  }

  verdict(call: string, verdict: string): void {
    this.#verdicts.set(call, verdict);
  }

  settled(call: string, life: number): void {
    this.#settledIn.set(call, life);
  }

  /** Whether a repetition is the agent's own risk now: of an earlier call it is known no more, or never was, what became of it. */
  isAtRisk({ calls }: Order, life: number, now: string | undefined): boolean {
    return calls.some((call) => {
      if (call === now) return false;
      const result = this.#file.resultOf(call);
      if (result === undefined || !unclear.has(outcomeOf(result))) return false;
      return this.#verdicts.get(call) === 'unknown' || this.#settledIn.get(call) !== life;
    });
  }

  /** The gateway has died: what its agents were told and nobody had written down died with them. */
  forgotten(): void {
    for (const { disclaimed } of this.#orders.values()) {
      for (const call of disclaimed) if (this.#file.resultOf(call) === undefined) disclaimed.delete(call);
    }
  }

  paid(payment: Payment): void {
    const order = this.of(payment.reference);
    const { call } = payment.request;
    order.payments.push(payment);
    const { reference, payments, isRisky, disclaimed } = order;
    this.#judge.expect(payments.length === 1 || isRisky, 'R-16', () => `${reference} is paid twice`);
    this.#judge.expect(
      !disclaimed.has(call),
      'R-16',
      () => `${reference} is paid after ${call} was said not to be done`,
    );
  }

  /** An agent, or the history, is told what became of a call. */
  told(call: string, result: ToolResult): void {
    const order = this.#ofCall.get(call);
    if (order === undefined) return;
    const { reference, payments } = order;
    const outcome = outcomeOf(result);
    if (outcome === 'ok' || outcome === 'done') {
      this.#judge.expect(payments.length > 0, 'R-16', () => `${call} is said to be done, and ${reference} is not paid`);
      if (result.status !== 'ok') return;
      const { reference: paid } = (result.value ?? {}) as { reference?: unknown };
      this.#judge.expect(paid === reference, 'R-16', () => `${call} answers another payment than that of ${reference}`);
    } else if (noEffect.has(outcome)) {
      order.disclaimed.add(call);
      const made = payments.some(({ request }) => request.call === call);
      this.#judge.expect(!made, 'R-16', () => `${call} is said to be ${outcome}, and ${reference} is paid`);
    }
  }
}
