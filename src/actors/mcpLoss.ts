import { McpError } from '@modelcontextprotocol/sdk/types.js';
import { AttemptError, type FailureFacts } from '../policy/failure.ts';
import { plain } from './mcpCall.ts';
import type { ServerEnd } from './mcpProcess.ts';

/** Why a connection whose handshake was over can no longer be used. */
export function lossFacts(end: ServerEnd, stderr: string): FailureFacts {
  if (isCleanExit(end)) {
    return {
      kind: 'crash',
      reason: 'connection_closed',
      message: 'The server closed the connection',
      outcome: 'unknown',
    };
  }
  const tooLarge = end.fault === 'message_too_large';
  return {
    kind: tooLarge ? 'protocol' : 'crash',
    reason: tooLarge ? 'message_too_large' : 'connection_lost',
    message: withStderr(`The server ${deed(end)}`, stderr),
    outcome: 'unknown',
    code: end.signal ?? end.exitCode,
  };
}

/** Why a server did not come up: it could not be started, ended before it answered, or refused. */
export function startupFacts(error: unknown, end: ServerEnd | undefined, stderr: string): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  if (end !== undefined && end.fault !== 'message_too_large') {
    return {
      kind: 'crash',
      reason: 'startup_failed',
      message: withStderr(`The server ${deed(end)} before it answered initialize`, stderr),
      outcome: 'not_started',
      code: end.signal ?? end.exitCode,
    };
  }
  return {
    kind: 'protocol',
    reason: end === undefined ? 'init_rejected' : 'message_too_large',
    message: withStderr(end === undefined ? `initialize failed: ${plain(error)}` : `The server ${deed(end)}`, stderr),
    outcome: 'not_started',
    code: error instanceof McpError ? error.code : undefined,
    cause: error,
  };
}

/** Whether the server ended by itself and had nothing to complain about. */
export function isCleanExit({ exitCode, fault }: ServerEnd): boolean {
  return exitCode === 0 && fault === undefined;
}

/** The message, and what the server wrote to stderr last. */
export function withStderr(message: string, stderr: string): string {
  return stderr === '' ? message : `${message}; stderr: ${stderr}`;
}

function deed({ exitCode, signal, fault }: ServerEnd): string {
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
