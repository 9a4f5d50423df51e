import type { ConnectionEvent, connectionMachine } from '../../src/machines/face.ts';
import type { RegisterChild } from '../../src/policy/records/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { type Logger, say } from '../../src/policy/text/face.ts';
import { createByteLines } from '../../src/protocol/face.ts';
import type { McpId } from '../../src/protocol/mcp/face.ts';
import {
  type ServerTarget,
  createStderrTail,
  isCleanExit,
  lossFacts,
  serverLoss,
  stopped,
} from '../../src/actors/mcp/face.ts';
import { type ProcessLink, connectionOver, killGraceMs } from '../../src/actors/process/face.ts';

/** A server that lines are passed to and from as they are. */
export interface McpRelay {
  /** Pid of its process; undefined when it is none of ours. */
  readonly pid: number | undefined;
  /** True while more was written than the server takes for now. */
  readonly isFull: boolean;
  /** The last of what it wrote to stderr, on one line, without our secrets. */
  readonly stderr: string;
  /** It has answered: what it wrote to stderr until now says nothing of how it ends. */
  answered(): void;
  /** Writes one line, its end included. False when the server cannot be written to. */
  write(line: string | Uint8Array): boolean;
  /** Has the lines that are written until the returned function is called sent as one. */
  gather(): () => void;
  pauseOutput(): void;
  resumeOutput(): void;
  endInput(): void;
  readonly exited: Promise<void>;
  kill(reason: FailureFacts): void;
}

/** Listeners of one incarnation of the server. What a callback throws is logged and goes no further. */
export interface McpRelayHost {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  /** Told of the process once it runs, so that the next runtime can end it should this one die. */
  readonly register?: RegisterChild | undefined;
  readonly hide: (text: string) => string;
  /** The process runs. The incarnation is ready when what this gives is resolved, and has failed to start when it rejects. */
  started(relay: McpRelay): Promise<void> | undefined;
  ready(relay: McpRelay): void;
  /** Has what is passed on until the returned function is called sent as one: the lines of one piece of output come in between. */
  gather(): () => void;
  /** Receives one line of its stdout, its end included. Told of the content of the pipe only, never of what comes after `lost`. */
  line(line: Buffer): void;
  errors(chunk: Buffer): void;
  /** Called when one request has no answer and will get none; the server goes on. Told at most once of a request. */
  requestFailed(id: McpId, facts: FailureFacts): void;
  /** It takes what is written again. */
  drained(): void;
  /**
   * Told once, when it can no longer be used or did not come up, before the process is gone. An end that was asked for has reason `stopped`.
   * @param stderr - its last words: of one that has answered, since then.
   */
  lost(facts: FailureFacts, stderr: string): void;
  /** Tells whether a server that ended is to be started again without being asked for. */
  isWanted(): boolean;
  /** Tells whether an end that is asked for may take its time. */
  isPatient(): boolean;
}

/**
 * The connection machine over a server process that is spoken to in its own words: the logic of one incarnation. When the actor is
 * stopped without having ended, the process and everything below it gets SIGKILL at once.
 */
export function mcpRelayLogic(target: ServerTarget, host: McpRelayHost): typeof connectionMachine {
  return connectionOver((send) => startRelay(target, host, send));
}

function startRelay(target: ServerTarget, host: McpRelayHost, send: (event: ConnectionEvent) => void): ProcessLink {
  const { clock, hide } = host;
  const startedAt = clock.now();
  const stderr = createStderrTail(clock, hide, () => undefined);

  const threw = (what: string, error: unknown): void => say(host.logger, 'error', `${what} threw`, { error });
  const tell = (what: string, callback: () => void): void => {
    try {
      callback();
    } catch (error) {
      threw(what, error);
    }
  };

  const lines = createByteLines({
    maxBytes: target.maxMessageBytes,
    onLine: (line) => {
      if (loss.facts !== undefined) return;
      try {
        host.line(line);
      } catch (error) {
        threw('line', error);
      }
    },
    onTooLong: () => server.finish({ fault: 'message_too_large' }),
  });
  const server = target.open(clock, {
    started: (pid) => begin(pid),
    output(chunk) {
      const send = host.gather();
      lines.push(chunk);
      send();
    },
    outputEnded: () => lines.end(),
    errors: (chunk) => {
      stderr.push(chunk);
      tell('errors', () => host.errors(chunk));
    },
    errorsEnded: () => stderr.end(),
    drained: () => tell('drained', () => host.drained()),
    requestFailed(id, facts) {
      if (loss.facts === undefined) tell('requestFailed', () => host.requestFailed(id, facts));
    },
    ended: () => {
      const { end = {} } = server;
      loss.bury(lossFacts(end, ''), isCleanExit(end) && !host.isWanted());
    },
  });

  const loss = serverLoss(server, clock, startedAt, send, (facts) => {
    tell('lost', () => host.lost(facts, stderr.lastWords()));
  });

  const begin = (pid: number | undefined): void => {
    if (pid !== undefined) {
      registered?.started(pid);
      send({ type: 'link.started', pid });
    }
    const relay: McpRelay = {
      pid,
      get isFull() {
        return server.isFull;
      },
      get stderr() {
        return stderr.text();
      },
      answered: () => stderr.up(),
      write: (line) => server.write(line),
      gather: () => server.gather(),
      pauseOutput: () => server.pauseOutput(),
      resumeOutput: () => server.resumeOutput(),
      endInput: () => server.endInput(),
      get exited() {
        return server.exited;
      },
      kill: (facts) => send({ type: 'link.hung', facts }),
    };
    const ready = (): void => {
      if (loss.facts !== undefined) return;
      send({ type: 'link.ready', server: undefined });
      tell('ready', () => host.ready(relay));
    };
    tell('started', () => {
      const greeting = host.started(relay);
      if (greeting === undefined) ready();
      else greeting.then(ready, (error: unknown) => loss.bury(factsOf(error), false));
    });
  };

  const { mark } = server;
  const registered = mark === undefined ? undefined : host.register?.({ mark, command: target.command });
  server.start().catch((error: unknown) => loss.bury(factsOf(error), false));

  return {
    close() {
      loss.lose(stopped);
      loss.closed(host.isPatient() ? server.close() : server.terminate(killGraceMs));
    },
    kill: (facts) => loss.bury(facts, false),
    release() {
      loss.lose(stopped);
      server.killNow();
      registered?.ended();
    },
  };
}

function factsOf(error: unknown): FailureFacts {
  if (error instanceof AttemptError) return error.facts;
  const message = error instanceof Error ? error.message : 'The server could not be started';
  return { kind: 'crash', reason: 'startup_failed', message, outcome: 'not_started', cause: error };
}
