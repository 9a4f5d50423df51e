import { type Order, type OrderName, orderNames } from '../policy/operatorOrder.ts';
import { checkInteger, checkName, checkText } from '../policy/options.ts';
import { show } from '../policy/showValue.ts';
import type { EventSearch } from './eventPages.ts';

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

/** Which events are asked for; the newest 100 without a `limit`. */
export function readEventSearch(query: URLSearchParams): EventSearch {
  const number = (name: string): number | undefined => {
    const given = query.get(name);
    return given === null || given === '' ? undefined : Number(given);
  };
  const text = (name: string): string | undefined => query.get(name) || undefined;
  return {
    ...{ since: number('since'), until: number('until'), after: number('after'), before: number('before') },
    ...{ category: text('category'), integration: text('integration'), session: text('session'), text: text('text') },
    failed: query.get('failed') === '1',
    limit: Math.min(mostEvents, number('limit') ?? 100),
  };
}

/** @throws RangeError for what is no id of an event. */
export function readEventId(query: URLSearchParams): number {
  return checkInteger('id', Number(query.get('id') ?? Number.NaN));
}

/** Orders about something of a session: its rule, its call, its message. */
const targeted: ReadonlySet<OrderName> = new Set<OrderName>(['fire', 'stop_retrying', 'send_again', 'drop']);

/** @throws TypeError or RangeError for what is no order, or was not confirmed. */
export function readOrder(body: unknown): Omit<Order, 'by'> {
  const { order, name, target, why, confirm } = fieldsOf(body);
  const known = orderNames.find((each) => each === order);
  if (known === undefined)
    throw new RangeError(`Expected \`order\` to be one of ${orderNames.join(', ')}, got ${show(order)}`);
  const whom = checkName('name', name);
  const what = targeted.has(known) || target !== undefined ? checkName('target', target) : undefined;
  if (confirm !== whom) throw new RangeError('Expected `confirm` to be the name again: orders are asked twice');
  const reason = why === undefined ? '' : checkText('why', why).trim();
  return {
    order: known,
    name: whom,
    ...(what !== undefined && { target: what }),
    ...(reason !== '' && { why: reason }),
  };
}

/** The token of a login; empty where there is none. */
export function readLogin(body: unknown): string {
  const { token } = fieldsOf(body);
  return typeof token === 'string' ? token : '';
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
