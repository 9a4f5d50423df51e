import { followAddress } from './route.ts';
import type { OrderName, OrderResult } from '../../policy/operatorOrder.ts';

/** What the server has under a path. @throws Error that says what the server said. */
export async function get<T>(path: string): Promise<T> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return (await answer.json()) as T;
}

/** Gives an order; the name twice, as it was confirmed. Never rejects. */
export async function give(order: OrderName, name: string, why: string, target?: string): Promise<OrderResult> {
  try {
    return (await post('/api/order', { order, name, target, confirm: name, why })) as OrderResult;
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error) };
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

async function post(path: string, body: unknown): Promise<unknown> {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!answer.ok) throw new Error((await answer.text()).trim() || answer.statusText);
  return answer.json();
}
