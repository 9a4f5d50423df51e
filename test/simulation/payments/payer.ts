import type { SupervisedSession } from '../../../src/sessions/supervisedSession.ts';
import type { ToolResult } from '../../../src/sessions/toolResult.ts';
import type { Turn } from '../../../src/sessions/turn.ts';
import type { Life } from './life.ts';
import { type Order, outcomeOf } from './orders.ts';
import type { PaymentWorld } from './paymentWorld.ts';

/** Most calls an agent makes for one order. */
const mostCalls = 6;

/** What a message asks for. */
export interface Asked {
  readonly orders: readonly string[];
  /** It was asked for before, by another message. @defaultValue false */
  readonly isAgain?: boolean;
}

/** An agent: pays its orders, and repeats a call where that is no risk, or where it does not mind. */
export async function pay(
  world: PaymentWorld,
  life: Life,
  session: SupervisedSession,
  { orders, isAgain = false }: Asked,
  turn: Turn,
): Promise<void> {
  const pending = orders.map(async (reference) => {
    const order = world.orders.of(reference);
    const beginsAnew = turn.delivery > 1 && order.isForgetful && !isAgain && order.calls.length < mostCalls;
    if (beginsAnew) await callOnce(world, life, session, order, turn);
    await payOrder(world, life, session, order, turn);
  });
  await Promise.all(pending);
}

async function payOrder(
  world: PaymentWorld,
  life: Life,
  session: SupervisedSession,
  order: Order,
  turn: Turn,
): Promise<void> {
  const { chance } = world;
  while (life.isAlive && !turn.signal.aborted && order.calls.length < mostCalls) {
    const known = lastResult(session, order.reference);
    if (known !== undefined && !mayRepeat(world, life, order, known)) return;
    if (known !== undefined && chance.happens(0.5)) {
      await life.wait(chance.span(1, 20_000));
      // What was known then may have changed.
      continue;
    }
    await callOnce(world, life, session, order, turn);
  }
}

async function callOnce(
  world: PaymentWorld,
  life: Life,
  session: SupervisedSession,
  order: Order,
  turn: Turn,
): Promise<void> {
  const { chance, judge, clock, watchdog, policy } = world;
  const { reference } = order;
  const dueAt = clock.now() + Math.min(watchdog.toolCallMs, policy.limits.overallMs);
  const controller = new AbortController();
  const amount = 100;
  const answer = turn.tool('bank', 'charge', { reference, amount }, { signal: controller.signal });
  const entry = session.history.findLast(({ type }) => type === 'tool_call');
  const call = entry?.type === 'tool_call' ? entry.call : '';
  const isCalled =
    !order.calls.includes(call) && (entry as { input?: { reference?: string } }).input?.reference === reference;
  if (isCalled) world.orders.called(order, call);
  world.trace.note(`${reference}: ${call} is made`);
  const row = { call, dueAt };
  life.calls.add(row);
  if (chance.happens(0.15)) {
    void life.wait(chance.span(1, 30_000)).then(() => {
      controller.abort(new Error('the agent has changed its mind'));
    });
  }
  const result = await answer;
  life.calls.delete(row);
  if (!life.isAlive) return;
  world.trace.note(`${reference}: ${call} gives ${outcomeOf(result)}`);
  judge.expect(!judge.overdue(dueAt), 'R-16', () => `${call} was due at ${dueAt}`);
  if (isCalled) world.orders.told(call, result);
}

/** The last call of an order, and its result. */
function lastResult(session: SupervisedSession, reference: string): ToolResult | undefined {
  const { history } = session;
  const last = history.findLast(
    (entry) => entry.type === 'tool_call' && (entry.input as { reference?: string }).reference === reference,
  );
  if (last?.type !== 'tool_call') return undefined;
  const result = history.find((entry) => entry.type === 'tool_result' && entry.call === last.call);
  return result?.type === 'tool_result' ? result.result : undefined;
}

function mayRepeat(world: PaymentWorld, life: Life, order: Order, known: ToolResult): boolean {
  const { chance, orders } = world;
  const outcome = outcomeOf(known);
  if (outcome === 'ok' || outcome === 'done') return false;
  if (outcome === 'answered') return chance.happens(0.2) && !orders.isAtRisk(order, life.number, undefined);
  if (orders.isAtRisk(order, life.number, undefined)) return chance.happens(0.05);
  return chance.happens(0.8);
}
