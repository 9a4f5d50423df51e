import { stackOf } from '../../src/calls/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import { guardProcess } from '../../src/runtime/face.ts';
import type { Bus } from '../../src/telemetry/face.ts';
import { allCallsEnded, callsInFlight, currentCall, type EndedBy } from './runningCall.ts';
import { tellable } from './errorBoundary.ts';

/** Bound on what a server process goes through before it makes room for a fresh one. */
interface UncaughtBound {
  /** Errors that nobody caught, after which the process ends with 1. */
  readonly most: number;
  /** Within this, in ms. */
  readonly periodMs: number;
}

/** A server that has a process of its own, as that process deals with it. */
interface ServedProcess {
  readonly clock: Clock;
  readonly bus: Bus;
  readonly uncaught: UncaughtBound;
  /** Tells whether a client can be answered. Until then an error is that of a failed start, and ends the process as it would have. */
  readonly isServing: () => boolean;
  /** Says what happened where people look for it. */
  readonly say: (line: string) => void;
  /** Time that each step of the end may take once the client is gone, in ms. */
  readonly closeMs: number;
  /** The server's own clean-up. */
  readonly onClose: (() => unknown) | undefined;
  readonly flush: () => Promise<unknown>;
}

/** The process a server runs in, as it is to behave. */
export interface ServerProcess {
  /** Errors nobody caught, so far. */
  readonly uncaught: number;
  /** Takes every listener off; the process is left as it would be without. */
  release(): void;
}

/**
 * Has the process of a server over stdio go on after an error that nobody caught, and end when its client is gone: when its stdin
 * ends, or its stdout cannot be written to any more.
 */
export function watchServerProcess(server: ServedProcess): ServerProcess {
  const { clock, bus, uncaught: bound, isServing, say, flush } = server;
  const times: number[] = [];
  let uncaught = 0;
  let leaving = false;

  const leave = (exitCode: number | undefined): void => {
    if (leaving) return;
    leaving = true;
    void windUp(server, exitCode === undefined ? 'closing' : 'uncaught').then(() => process.exit(exitCode));
  };

  const gone = (): void => leave(undefined);

  const goOn = (error: unknown): boolean => {
    uncaught += 1;
    if (!leaving && !isServing()) return false;
    say(`An error that nobody caught; the server goes on: ${tellable(stackOf(error) ?? error)}`);
    endCallsOf(error);
    const now = clock.now();
    times.push(now);
    while ((times[0] ?? now) <= now - bound.periodMs) times.shift();
    // In order, not at once: the calls that were just answered still have to be heard of.
    if (times.length > bound.most && !leaving) {
      say(
        `More than ${bound.most} errors that nobody caught within ${formatDuration(bound.periodMs)}; the server ends`,
      );
      leave(1);
    }
    return true;
  };

  const { stdin, stdout, stderr } = process;
  const unguard = guardProcess({ facts: bus, flush: () => void flush().catch(ignore) }, { goOn });
  stdin.on('end', gone);
  stdin.on('close', gone);
  stdout.on('error', gone);
  stderr.on('error', ignore);

  return {
    get uncaught() {
      return uncaught;
    },
    release() {
      unguard();
      stdin.off('end', gone);
      stdin.off('close', gone);
      stdout.off('error', gone);
      stderr.off('error', ignore);
    },
  };
}

/** Ends the calls whose error it is, as can mostly be told. Else no call in flight may be left to wait for what will not come. */
function endCallsOf(error: unknown): void {
  const own = currentCall();
  const said = `An error in the server that nobody caught; the outcome of the call is unknown: ${tellable(error)}`;
  const reason = new Error(said, { cause: error });
  const stack = stackOf(error);
  if (stack !== undefined) reason.stack = stack;
  for (const call of own === undefined ? callsInFlight() : [own]) call.end('uncaught', reason);
}

/**
 * Lets calls in flight end, then ends them, cleans up and writes what is to be kept; each for `closeMs` at most.
 * @param by - what ends them: with the client still there, each is a failure.
 */
async function windUp({ clock, closeMs, onClose, flush }: ServedProcess, by: EndedBy): Promise<void> {
  const within = async (work: () => unknown): Promise<void> => {
    const done = Promise.resolve().then(work).catch(ignore);
    await inTime(done, { clock, limitMs: closeMs });
  };
  // Requests from before the end of stdin may have been read with it.
  await within(() => new Promise<void>((resolve) => clock.nextTurn(resolve)).then(allCallsEnded));
  for (const call of callsInFlight())
    call.end(by, new Error('The server is closing; the outcome of the call is unknown'));
  await within(() => onClose?.());
  await within(flush);
  await within(() => new Promise((resolve) => process.stdout.write('', resolve)));
}

function ignore(): void {}
