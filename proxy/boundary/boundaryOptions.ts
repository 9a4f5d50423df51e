import type { Clock } from '../../src/policy/face.ts';
import type { Fact } from '../../src/policy/facts/face.ts';
import {
  type Given,
  type Key,
  anything,
  callback,
  duration,
  readOptions,
  text,
} from '../../src/policy/options/face.ts';
import { KnownSecrets, createFactRedactor } from '../../src/redaction/face.ts';
import { systemClock } from '../../src/runtime/face.ts';

/** {@link ErrorBoundaryOptions}, checked, with the defaults filled in. */
export interface BoundarySettings {
  readonly idleMs: number;
  readonly overallMs: number;
  readonly tool: string | undefined;
  readonly server: string;
  readonly tell: (fact: Fact) => void;
  readonly clock: Clock;
}

/** The limits of a handler. */
export const handlerKeys = {
  /**
   * Without a sign of life (a notification or a request to the client, by its context; under `superviseMcpServer` also by the server),
   * in ms above 0. By default below the 60 s after which most clients give up: the agent then learns which tool hangs.
   * @defaultValue 50000
   */
  idleMs: duration(),
  /** Whatever it reports, in ms above 0. @defaultValue 280000, below the 5 min a client of this package gives one attempt */
  overallMs: duration(),
};

/** Limits on the time of a handler. */
export interface HandlerLimits extends Given<typeof handlerKeys> {}

const ownKeys = {
  /** Stands before the message of an error. @defaultValue the tool that was called, where the handler is told, else its own name */
  tool: text(),
  /** The name of the server in facts. @defaultValue 'mcp-server' */
  server: text({ default: 'mcp-server' }),
  /**
   * Told `mcp.tool_failed` of every answer that is an error, with its input, and `call.late` of what a handler came to after it had
   * been given up; the secrets are taken out. What it throws is lost, and what a promise it returns rejects with.
   */
  tell: callback<(fact: Fact) => void>(),
  /** Source of time and timers. @defaultValue the system's */
  clock: anything as Key<Clock | undefined>,
};

const boundaryKeys = {
  ...ownKeys,
  idleMs: duration({ default: 50_000 }),
  overallMs: duration({ default: 280_000 }),
};

/** Options for wrapping one handler. */
export interface ErrorBoundaryOptions extends HandlerLimits, Given<typeof ownKeys> {}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkBoundary(options: ErrorBoundaryOptions): BoundarySettings {
  const { tell = () => undefined, clock = systemClock, tool, ...own } = readOptions('', options, boundaryKeys);
  const redact = createFactRedactor(new KnownSecrets(process.env));
  return { ...own, tool, clock, tell: (fact) => tell(redact(fact)) };
}
