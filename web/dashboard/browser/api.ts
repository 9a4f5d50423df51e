import { messageOf } from '../../../src/policy/failures/face.ts';
import { followAddress } from './route.ts';
import type { OrderResult } from '../../../src/policy/face.ts';
import type { PersonAnswer } from '../../../src/policy/records/face.ts';
import type { Order, OrderName } from '../../../operator/order.ts';

/** Gets what the server has under a path. @throws Error that says what the server said. */
export async function get<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  if (!answer.ok) throw await refusalOf(answer);
  return (await answer.json()) as T;
}

/** Gives an order; the name twice, as it was confirmed. Never rejects. */
export function give(order: OrderName, name: string, why: string, target?: string): Promise<OrderResult> {
  return command('/api/order', { order, name, target, confirm: name, why });
}

/** Answers a question of the inbox. Never rejects. */
export function answerQuestion(
  question: string,
  answer: Pick<PersonAnswer, 'decision' | 'value'>,
  why: string,
): Promise<OrderResult> {
  return command('/api/answer', { question, ...answer, why });
}

/** Gives one order about many; their number once more, as it was confirmed. Never rejects. */
export function giveMany(
  order: OrderName,
  of: readonly Pick<Order, 'name' | 'target'>[],
  why: string,
): Promise<OrderResult> {
  return command('/api/orders', { order, of, confirm: of.length, why });
}

/** Has an order on many go no further. Never rejects. */
export function stopMany(key: string): Promise<OrderResult> {
  return command('/api/orders/stop', { key });
}

/** Has the browser keep the file of an incident. @param id - of a session, or the name of an integration. @returns what became of it. Never rejects. */
export async function saveIncident(id: string): Promise<string> {
  try {
    const answer = await send('/api/incident', { id });
    const [, name = 'incident.json'] = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '') ?? [];
    const link = document.createElement('a');
    link.href = URL.createObjectURL(await answer.blob());
    link.download = name;
    link.click();
    // The browser reads it after the click; later nobody does.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    return `${name}: play it by unwedge replay`;
  } catch (error) {
    return `Not saved: ${messageOf(error)}`;
  }
}

/** Shows the token of the address, which is taken out of the address then. Resolves also where it was not good. */
export async function logIn(): Promise<void> {
  const [, token, rest = ''] = /^#token=([\w-]+)(.*)$/.exec(location.hash) ?? [];
  if (token === undefined) return;
  history.replaceState(null, '', `/${rest === '' ? '#/overview' : rest}`);
  followAddress();
  await post('/login', { token }).catch(() => undefined);
}

async function command(path: string, body: unknown): Promise<OrderResult> {
  try {
    return (await post(path, body)) as OrderResult;
  } catch (error) {
    return { ok: false, text: messageOf(error) };
  }
}

async function post(path: string, body: unknown): Promise<unknown> {
  return (await send(path, body)).json();
}

/** @throws Error that says what the server said. */
async function send(path: string, body: unknown): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw await refusalOf(answer);
  return answer;
}

/** Reads the server's reason for no answer. */
async function refusalOf(answer: Response): Promise<Error> {
  const text = await answer.text();
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    if (typeof error === 'string') return new Error(error);
  } catch {
    // The text is the listener's own, which speaks to whoever asks.
  }
  return new Error(text.trim() || answer.statusText);
}
