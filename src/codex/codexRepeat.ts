import { timedOut } from '../actors/rpc/rpcPeerErrors.ts';
import type { Clock } from '../policy/clock.ts';
import { AttemptError } from '../policy/failure.ts';
import type { LiveConnection } from './codexLive.ts';

/** A request for which an app-server may be replaced. */
export interface CodexRequest<T> {
  readonly method: string;
  /** Limit on its answer, in ms, from the first time it is sent; it holds for both times together. */
  readonly limitMs: number;
  readonly clock: Clock;
  readonly acquire: () => Promise<LiveConnection>;
  readonly send: (live: LiveConnection, limitMs: number) => Promise<T>;
}

/**
 * Sends a request; one that may be repeated is asked of the next app-server when the first was hung and was killed for it.
 * Rejects with an {@link AttemptError}.
 */
export async function sendRequest<T>({ method, limitMs, clock, acquire, send }: CodexRequest<T>): Promise<T> {
  const repeatable = isRepeatable(method);
  const live = await acquire();
  const deadline = clock.now() + limitMs;
  // At half of the limit: the other half is for the sign of life, the next app-server and its answer.
  const suspicion = repeatable
    ? clock.setTimeout(() => void live.suspect(), limitMs / 2, { running: true })
    : undefined;
  try {
    return await send(live, limitMs);
  } catch (error) {
    if (!(error instanceof AttemptError)) throw error;
    if (error.facts.kind === 'timeout') void live.suspect();
    if (!repeatable || error.facts.reason !== 'hang') throw error;
  } finally {
    clock.clearTimeout(suspicion);
  }
  const late = new AttemptError(timedOut(method, limitMs));
  const again = async (): Promise<T> => {
    const next = await acquire();
    const leftMs = deadline - clock.now();
    if (leftMs <= 0) throw late;
    return send(next, leftMs);
  };
  return before(deadline, clock, again(), late);
}

/** Tells whether asking the next app-server too changes nothing: a thread is resumed in the one that has died, too, and the rest reads. */
function isRepeatable(method: string): boolean {
  return method === 'thread/resume' || method.endsWith('/list') || method.endsWith('/read');
}

async function before<T>(deadline: number, clock: Clock, work: Promise<T>, late: AttemptError): Promise<T> {
  let expire: () => void = () => undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    expire = () => reject(late);
  });
  const timer = clock.setTimeout(() => clock.nextTurn(expire), Math.max(0, deadline - clock.now()), { running: true });
  try {
    return await Promise.race([work, expired]);
  } finally {
    clock.clearTimeout(timer);
  }
}
