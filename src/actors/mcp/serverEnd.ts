import type { FailureFacts } from '../../policy/failures/failure.ts';
import { namesError } from '../../policy/text/lastLine.ts';
import type { ServerEnd, ServerLink } from './serverLink.ts';
import type { ConnectionEvent, ProcessEnd } from '../../machines/connection.ts';
import type { Clock } from '../../policy/clock.ts';
import { killGraceMs } from '../process/processLink.ts';

/**
 * Why a connection whose handshake was over can no longer be used.
 * @param subject - begins the message.
 */
export function lossFacts(end: ServerEnd, stderr: string, subject = 'The server'): FailureFacts {
  if (end.facts !== undefined) return end.facts;
  if (isCleanExit(end)) {
    return {
      kind: 'crash',
      reason: 'connection_closed',
      message: `${subject} closed the connection`,
      outcome: 'unknown',
    };
  }
  const tooLarge = end.fault === 'message_too_large';
  return {
    kind: tooLarge ? 'protocol' : 'crash',
    reason: tooLarge ? 'message_too_large' : 'connection_lost',
    message: withStderr(`${subject} ${deed(end)}`, stderr, end.signal),
    outcome: 'unknown',
    code: end.signal ?? end.exitCode,
  };
}

/** Tells whether the server ended by itself and had nothing to complain about. */
export function isCleanExit({ exitCode, fault }: ServerEnd): boolean {
  return exitCode === 0 && fault === undefined;
}

/**
 * The message, and what the server wrote to stderr last.
 * @param code - of its exit, or the signal that ended it. Of a SIGKILL no process knows: what it wrote is told only where it names an error.
 */
export function withStderr(message: string, stderr: string, code?: number | string): string {
  const isTold = stderr !== '' && (code !== 'SIGKILL' || namesError(stderr));
  return isTold ? `${message}; stderr: ${stderr}` : message;
}

/** Describes the end of a server, after its name. */
export function deed({ exitCode, signal, fault }: ServerEnd): string {
  switch (fault) {
    case 'message_too_large':
      return 'sent a message that is too large';
    case 'pipe_closed':
      return 'closed a pipe and did not exit';
    case 'abandoned':
      return 'was given up';
    case undefined:
      return signal === undefined ? `exited with code ${exitCode ?? 'unknown'}` : `was ended by ${signal}`;
  }
}

/** An end that was asked for. */
export const stopped: FailureFacts = {
  kind: 'crash',
  reason: 'stopped',
  message: 'The server was stopped',
  outcome: 'unknown',
};

/**
 * Loss of one incarnation of a server: once, for the first reason there is.
 * @param startedAt - when the incarnation began, in ms of `clock`.
 * @param send - tells the connection's machine.
 * @param onLost - told once, before the process is gone. The owner of the calls hears of it before they end one by one: one incident counts once.
 */
export function serverLoss(
  server: ServerLink,
  clock: Clock,
  startedAt: number,
  send: (event: ConnectionEvent) => void,
  onLost: (facts: FailureFacts) => void,
) {
  let lost: FailureFacts | undefined;

  const lose = (facts: FailureFacts): boolean => {
    if (lost !== undefined) return false;
    lost = facts;
    onLost(facts);
    server.finish({ ...server.exit, fault: 'abandoned' });
    return true;
  };

  const ended = (): ProcessEnd => ({ pid: server.pid, ...server.exit, elapsedMs: clock.now() - startedAt });

  return {
    /** Why it can no longer be used; undefined while it can. */
    get facts(): FailureFacts | undefined {
      return lost;
    },
    lose: (facts: FailureFacts) => void lose(facts),
    /** Ends what is left of the server, then the connection: in good order where the server had ended so. */
    bury(facts: FailureFacts, clean: boolean): void {
      if (!lose(facts)) return;
      void server.terminate(killGraceMs).then(() => {
        send(clean ? { type: 'link.closed', end: ended() } : { type: 'link.lost', facts, end: ended() });
      });
    },
    closed: (gone: Promise<unknown>) => void gone.then(() => send({ type: 'link.closed', end: ended() })),
  };
}
