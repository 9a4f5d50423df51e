import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';
import type { Clock } from '../../../src/policy/clock.ts';
import type { MessageView } from '../../../web/serve/messageView.ts';
import { type ServeOptions, startServe } from '../../../web/serve/serve.ts';
import { openReader } from '../../../reader/openReader.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

export const token = 'planted-token-0123456789';

export interface ServedSetup extends Partial<Omit<ServeOptions, 'gateway' | 'read'>> {
  readonly clock?: Clock | undefined;
  /** Of an earlier one that is to be taken up. */
  readonly store?: string | undefined;
  readonly gateway?: Partial<ServeOptions['gateway']> | undefined;
}

interface Asking extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

/** What `unwedge serve` serves, in this process, and a client of it. */
export async function startServed({ store, clock = new SkippingClock(), gateway, ...options }: ServedSetup = {}) {
  const home = temporaryDirectory();
  vi.stubEnv('XDG_RUNTIME_DIR', home);
  const path = store ?? join(home, 'served.sqlite');
  const serving = await startServe({
    ...{ servers: {}, agents: {}, hooks: {}, token },
    gateway: { store: path, clock, childGuard: false, ...gateway },
    read: async (work) => {
      const reader = await openReader(path);
      try {
        return await work(reader);
      } finally {
        reader.close();
      }
    },
    ...options,
  });
  onTestFinished(() => serving.stop());
  const ask = (way: string, init: Asking = {}): Promise<Response> =>
    fetch(`${serving.origin}${way}`, { ...init, headers: { authorization: `Bearer ${token}`, ...init.headers } });
  const get = async <T>(way: string): Promise<T> => (await (await ask(way)).json()) as T;
  const post = (way: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
    ask(way, { method: 'POST', body: JSON.stringify(body), headers });
  const send = async (session: string, body: unknown, wait = '1h', key?: string) => {
    const headers = key === undefined ? {} : { 'idempotency-key': key };
    const response = await post(`/v1/sessions/${session}/messages${wait === '' ? '' : `?wait=${wait}`}`, body, headers);
    return {
      status: response.status,
      headers: response.headers,
      ...((await response.json()) as MessageView & { durable?: boolean; duplicate?: boolean; error?: string }),
    };
  };
  return { serving, clock, store: path, ask, get, post, send };
}

/** One server-sent event. */
export interface SeenEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: { readonly type: string } & Readonly<Record<string, unknown>>;
}

/** Reads server-sent events, one after the other; comments are left out. */
export async function* eventsOf(response: Response): AsyncGenerator<SeenEvent, undefined> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .filter((line) => !line.startsWith(':'))
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()] as const),
      );
      text = text.slice(end + 2);
      const data = fields.get('data');
      if (data === undefined) continue;
      yield { id: fields.get('id'), event: fields.get('event'), data: JSON.parse(data) as SeenEvent['data'] };
    }
  }
}
