import type { Duration } from '../policy/duration.ts';
import type { Clock } from '../policy/clock.ts';
import type { Fact } from '../policy/facts.ts';
import { anything, callback, duration, type Key, type KeysOf, text } from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import { KnownSecrets } from '../redaction/knownSecrets.ts';
import { createFactRedactor } from '../redaction/redactFact.ts';
import { systemClock } from '../runtime/systemClock.ts';

/** Limits on the time of a handler. */
export interface HandlerLimits {
  /**
   * Without a sign of life (a notification or a request to the client, by its context; under `superviseMcpServer` also by the server),
   * in ms above 0. By default below the 60 s after which most clients give up: the agent then learns which tool hangs.
   * @defaultValue 50000
   */
  readonly idleMs?: Duration | undefined;
  /** Whatever it reports, in ms above 0. @defaultValue 280000, below the 5 min a client of this package gives one attempt */
  readonly overallMs?: Duration | undefined;
}

/** Options for wrapping one handler. */
export interface ErrorBoundaryOptions extends HandlerLimits {
  /** Stands before the message of an error. @defaultValue the tool that was called, where the handler is told, else its own name */
  readonly tool?: string | undefined;
  /** The name of the server in facts. @defaultValue 'mcp-server' */
  readonly server?: string | undefined;
  /**
   * Told `mcp.tool_failed` of every answer that is an error, with its input, and `call.late` of what a handler came to after it had
   * been given up; the secrets are taken out. What it throws is lost, and what a promise it returns rejects with.
   */
  readonly tell?: ((fact: Fact) => void) | undefined;
  /** Source of time and timers. @defaultValue the system's */
  readonly clock?: Clock | undefined;
}

/** {@link ErrorBoundaryOptions}, checked, with the defaults filled in. */
export interface BoundarySettings {
  readonly idleMs: number;
  readonly overallMs: number;
  readonly tool: string | undefined;
  readonly server: string;
  readonly tell: (fact: Fact) => unknown;
  readonly clock: Clock;
}

/** The limits of a handler. */
export const handlerKeys = { idleMs: duration(), overallMs: duration() } satisfies KeysOf<HandlerLimits>;

const boundaryKeys = {
  idleMs: duration({ default: 50_000 }),
  overallMs: duration({ default: 280_000 }),
  tool: text(),
  server: text({ default: 'mcp-server' }),
  tell: callback<(fact: Fact) => unknown>(),
  clock: anything as Key<Clock | undefined>,
} satisfies KeysOf<ErrorBoundaryOptions>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkBoundary(options: ErrorBoundaryOptions): BoundarySettings {
  const { tell = () => undefined, clock = systemClock, tool, ...own } = readOptions('', options, boundaryKeys);
  const redact = createFactRedactor(new KnownSecrets(process.env));
  return { ...own, tool, clock, tell: (fact) => tell(redact(fact)) };
}
