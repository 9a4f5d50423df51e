import { checkName, checkText } from '../policy/options.ts';
import { show } from '../policy/showValue.ts';
import type { EventQuery } from '../store/events.ts';
import type { OrderName } from './snapshot.ts';
import type { Order } from './source.ts';

/** How far figures may look back, in ms. */
const spans = { '15m': 900_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 604_800_000 } as const;

/** @throws RangeError for a span that is none. */
export function readSpan(query: URLSearchParams): number {
  const span = query.get('span') ?? '1h';
  if (!Object.hasOwn(spans, span)) {
    throw new RangeError(`Expected \`span\` to be one of ${Object.keys(spans).join(', ')}, got ${show(span)}`);
  }
  return spans[span as keyof typeof spans];
}

const mostEvents = 500;

/** Which events are asked for; the newest 200 without a `limit`. */
export function readEventQuery(query: URLSearchParams): EventQuery {
  const number = (name: string): number | undefined => {
    const given = query.get(name);
    return given === null ? undefined : Number(given);
  };
  const { category, integration } = { category: query.get('category'), integration: query.get('integration') };
  return {
    since: number('since'),
    category: category || undefined,
    integration: integration || undefined,
    failed: query.get('failed') === '1',
    after: number('after'),
    limit: Math.min(mostEvents, number('limit') ?? 200),
    // So that a rare name costs no look at all that is kept.
    among: 100_000,
  };
}

const orders: readonly OrderName[] = ['restart', 'isolate', 'reset'];

/** @throws TypeError or RangeError for what is no order, or was not confirmed. */
export function readOrder(body: unknown): Omit<Order, 'by'> {
  const { order, name, why, confirm } = fieldsOf(body);
  const known = orders.find((each) => each === order);
  if (known === undefined)
    throw new RangeError(`Expected \`order\` to be one of ${orders.join(', ')}, got ${show(order)}`);
  const whom = checkName('name', name);
  if (confirm !== whom) throw new RangeError('Expected `confirm` to be the name again: orders are asked twice');
  const reason = why === undefined ? '' : checkText('why', why).trim();
  return { order: known, name: whom, ...(reason !== '' && { why: reason }) };
}

/** The token of a login; empty where there is none. */
export function readLogin(body: unknown): string {
  const { token } = fieldsOf(body);
  return typeof token === 'string' ? token : '';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
