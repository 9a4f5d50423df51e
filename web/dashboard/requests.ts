import { type Order, type OrderName, orderNames } from '../../operator/order.ts';
import { checkName, checkText } from '../../src/policy/options/face.ts';
import { show } from '../../src/policy/text/face.ts';
import type { IncomingMessage } from 'node:http';
import type { PersonAnswer } from '../../src/policy/records/face.ts';

/** Orders about something of a session: its rule, its call, its message; and what is put off for a time. */
const targeted = new Set<OrderName>(['fire', 'stop_retrying', 'hold', 'let_go_on', 'send_again', 'drop', 'snooze']);

/** Orders that may be given about many at a time. */
const bulkNames = ['reset', 'probe', 'restart', 'send_again', 'drop'] as const satisfies readonly OrderName[];

/** Most targets of one order, and most bytes of the request for it. */
const mostInBulk = 500;
export const mostBulkBytes = 262_144;

/** @throws TypeError or RangeError for what is no order, or was not confirmed. */
export function readOrder(body: unknown): Omit<Order, 'by'> {
  const fields = fieldsOf(body);
  const order = readOrderName(fields['order'], orderNames);
  const about = readAbout(order, fields);
  if (fields['confirm'] !== about.name)
    throw new RangeError('Expected `confirm` to be the name again: orders are asked twice');
  return { order, ...about, ...readWhy(fields) };
}

/** Reads one order on many, in their order. @throws TypeError or RangeError for what is none, or was not confirmed by their number. */
export function readBulk(body: unknown): readonly Omit<Order, 'by'>[] {
  const fields = fieldsOf(body);
  const order = readOrderName(fields['order'], bulkNames);
  const { of, confirm } = fields;
  if (!Array.isArray(of)) throw new TypeError(`Expected \`of\` to be a list, got ${show(of)}`);
  if (of.length === 0 || of.length > mostInBulk)
    throw new RangeError(`Expected \`of\` to have 1 to ${mostInBulk} entries, got ${of.length}`);
  if (confirm !== of.length)
    throw new RangeError(`Expected \`confirm\` to be their number, ${of.length}: orders are asked twice`);
  const why = readWhy(fields);
  return of.map((each: unknown) => ({ order, ...readAbout(order, fieldsOf(each)), ...why }));
}

/** Reads which order on many is to stop. @throws TypeError or RangeError for what is no key. */
export function readBulkKey(body: unknown): string {
  return checkName('key', fieldsOf(body)['key']);
}

/** Reads an answer to a question. @throws TypeError or RangeError for what is none. */
export function readAnswer(body: unknown): Pick<PersonAnswer, 'decision' | 'value' | 'reason'> & { question: string } {
  const { question, decision, value, why } = fieldsOf(body);
  const reason = readWhy({ why }).why;
  if (decision !== 'accept' && decision !== 'decline')
    throw new RangeError(`Expected \`decision\` to be accept or decline, got ${show(decision)}`);
  return {
    question: checkName('question', question),
    decision,
    value: decision === 'accept' ? value : undefined,
    reason,
  };
}

/** Reads the subject of an incident. @throws TypeError or RangeError for what is no name or id. */
export function readSubject(body: unknown): string {
  return checkName('id', fieldsOf(body)['id']);
}

function readOrderName<N extends OrderName>(order: unknown, among: readonly N[]): N {
  const known = among.find((each) => each === order);
  if (known === undefined)
    throw new RangeError(`Expected \`order\` to be one of ${among.join(', ')}, got ${show(order)}`);
  return known;
}

function readAbout(order: OrderName, { name, target }: Fields): Pick<Order, 'name' | 'target'> {
  const whom = checkName('name', name);
  const hasTarget = targeted.has(order) || target !== undefined;
  return { name: whom, ...(hasTarget && { target: checkName('target', target) }) };
}

function readWhy({ why }: Fields): Pick<Order, 'why'> {
  const reason = why === undefined ? '' : checkText('why', why).trim();
  return reason === '' ? {} : { why: reason };
}

/** The token of a login; empty where there is none. */
export function readLogin(body: unknown): string {
  const { token } = fieldsOf(body);
  return typeof token === 'string' ? token : '';
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

const usualBytes = 16_384;

/** The body of a request as JSON. @throws TypeError for one that is none, or is sent as another type, as forms of other sites would be. */
export async function readBody(request: IncomingMessage, mostBytes = usualBytes): Promise<unknown> {
  const text = await readText(request, 'application/json', mostBytes);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new TypeError('The body is no JSON.');
  }
}

/** The body of a request of this type. @throws TypeError for another type, RangeError for more bytes. */
export async function readText(request: IncomingMessage, type: string, mostBytes = usualBytes): Promise<string> {
  const [given = ''] = (request.headers['content-type'] ?? '').split(';');
  if (given.trim().toLowerCase() !== type) throw new TypeError(`The body has to be sent as ${type}.`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > mostBytes) throw new RangeError(`A body may have ${mostBytes} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
