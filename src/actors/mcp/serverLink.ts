import type { Clock } from '../../policy/clock.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { McpId } from '../../protocol/mcp/message.ts';

/** Why a server can no longer answer. */
export interface ServerEnd {
  readonly exitCode?: number | undefined;
  /** The signal that ended the process. */
  readonly signal?: string | undefined;
  /** Set when the process was still running. */
  readonly fault?: 'message_too_large' | 'pipe_closed' | 'abandoned' | undefined;
  /** Facts of the end, where the link knows: of a server that is no process. */
  readonly facts?: FailureFacts | undefined;
}

/** Callbacks of a link to a server; none of these may throw. */
export interface ServerLinkListener {
  /** It can be written to. @param pid - of its process; undefined when it is none of ours. */
  started(pid: number | undefined): void;
  /** Receives the output of the server: lines, each a message. */
  output(chunk: Buffer): void;
  outputEnded(): void;
  /** Receives its words to people. */
  errors(chunk: Buffer): void;
  errorsEnded(): void;
  /** Called once all that was not taken at once has been taken. */
  drained?(): void;
  /** This one request has no answer and will get none; the link goes on. Told at most once of a request. */
  requestFailed?(id: McpId, facts: FailureFacts): void;
  /** Told once: no answer will come any more. A process may still be there. */
  ended(): void;
}

/** An incarnation of an MCP server as it is spoken to, in lines of JSON, from its start to its end: a process, or a session elsewhere. */
export interface ServerLink {
  /** Mark that all descendants of its process carry in their environment; undefined when there is no process. */
  readonly mark?: string | undefined;
  /** Absent until its process has started, and where there is none. */
  readonly pid: number | undefined;
  /** Set once no answer will come any more. */
  readonly end: ServerEnd | undefined;
  /** End of its process, as far as is known. */
  readonly exit: Pick<ServerEnd, 'exitCode' | 'signal'>;
  /** True while more was written than the server takes for now; `drained` is told when it has. */
  readonly isFull: boolean;
  /** Resolves when its process has exited, or nothing is left of the session; at once when there is neither. */
  readonly exited: Promise<void>;
  /** @throws AttemptError when it cannot be started, or its end was asked for before. */
  start(): Promise<void>;
  /** Writes lines, their ends included. Never blocks. @returns whether the server can still be written to. */
  write(data: string | Uint8Array): boolean;
  /** Has what is written until the returned function is called sent as one, where that makes a difference. */
  gather(): () => void;
  /** Leaves what the server says where it is until `resumeOutput`: one that is ahead of its reader has to wait. */
  pauseOutput(): void;
  resumeOutput(): void;
  /** Lets the server know that nothing more will be written. */
  endInput(): void;
  /** Ends it in good order. Never rejects. */
  close(): Promise<void>;
  /** Ends it, and all it started. @param graceMs - between asking and forcing. Never rejects. */
  terminate(graceMs: number): Promise<void>;
  /** Ends it at once. */
  killNow(): void;
  /** No answer is waited for any more. The first end stays. */
  finish(end: ServerEnd): void;
}

/** Knowledge of the era of a server. */
interface ServerEras {
  /** As of the last connection; undefined when it is to be asked. */
  readonly known: 'legacy' | 'modern' | undefined;
  learn(era: 'legacy' | 'modern' | undefined): void;
}

/** A server that can be connected to, any number of times. */
export interface ServerTarget {
  /** Command that is run, or its address; for the record, and without secrets. */
  readonly command: string;
  /** Secrets that must not stand in messages, under the names that are shown in their place. */
  readonly secrets: Readonly<Record<string, string>>;
  /** Limit on the start up to the end of the handshake, in ms. */
  readonly handshakeMs: number;
  /** Time in ms that it may take to answer a ping when it is under suspicion. */
  readonly pingMs: number;
  /** Era that it is of; undefined for one that is spoken to in that of the handshake without being asked. */
  readonly eras?: ServerEras | undefined;
  /** Longest message taken from it, in bytes. */
  readonly maxMessageBytes: number;
  /** True where it may go on when its process, or the connection, has ended: with its tasks as well. */
  readonly mayGoOn: boolean;
  /** Loads what `open` needs, where that is more than most hosts use; `open` comes after it. */
  load?(): Promise<void>;
  /** A link that has not been started. */
  open(clock: Clock, listener: ServerLinkListener): ServerLink;
}
