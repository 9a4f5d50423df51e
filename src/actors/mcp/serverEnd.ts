import type { FailureFacts } from '../../policy/failure.ts';
import { namesError } from '../../policy/lastLine.ts';
import type { ServerEnd } from './serverLink.ts';

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
