import type { McpClientPipe } from '../actors/mcpClientPipe.ts';
import type { Clock } from '../policy/clock.ts';
import type { Asides } from './asides.ts';
import type { ClientCalls } from './clientCalls.ts';
import type { Wire } from './wire.ts';

export interface FarewellParts {
  readonly clock: Clock;
  readonly calls: Pick<ClientCalls, 'allSettled'>;
  readonly asides: Pick<Asides, 'allAnswered'>;
  readonly wire: () => Wire | undefined;
  readonly pipe: Pick<McpClientPipe, 'flush'>;
}

/** How long requests may take to be answered after the client has ended its side, in ms. */
const drainMs = 3000;
/**
 * How long the server may take to end once its stdin is closed, and the client to read what is left, in ms. The SDKs' clients send SIGTERM after 2 s and SIGKILL
 * after 2 s more: by then nothing of ours may be left.
 */
const graceMs = 1500;

/**
 * What is done after the client has ended its side: what is under way may still be answered, then the server is told, and may finish.
 * Always resolves.
 */
export async function farewell({ clock, calls, asides, wire, pipe }: FarewellParts): Promise<void> {
  await within(drainMs, Promise.all([calls.allSettled(), asides.allAnswered()]), clock);
  const last = wire();
  last?.relay.endInput();
  if (last !== undefined) await within(graceMs, last.relay.exited, clock);
  await within(graceMs, pipe.flush(), clock);
}

/** Resolves with the promise, or after so long. */
function within(ms: number, promise: Promise<unknown>, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimeout(resolve, ms, { ref: true });
    void promise.then(() => {
      clock.clearTimeout(timer);
      resolve();
    });
  });
}
