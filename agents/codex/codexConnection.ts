import type { IncomingRequest, RequestEnd, RequestOptions } from './rpc/rpcPeerTypes.ts';
import type { ProcessEnd } from '../../src/machines/connection.ts';
import type { RegisterChild } from '../../src/policy/childRecord.ts';
import type { Clock } from '../../src/policy/clock.ts';
import type { FailureFacts } from '../../src/policy/failure.ts';
import type { CodexSettings } from './codexOptions.ts';
import type { CodexServer } from './codexTypes.ts';

/** Connection to an app-server whose handshake is over, until it is lost. */
export interface CodexConnection {
  readonly server: CodexServer;
  /** Why it ended, once it has. */
  readonly lost: FailureFacts | undefined;
  /** True while all that comes from it are messages. */
  readonly healthy: boolean;
  /** Rejects with an `AttemptError` whose facts say what is known. */
  request(method: string, params: unknown, options?: RequestOptions): Promise<unknown>;
  /** Kills the app-server and all it started, for this reason. */
  kill(facts: FailureFacts): void;
}

/** Loss of a connection: its process ended as it was asked to, by itself, or by us. */
export type HowLost = 'normal' | 'crashed' | 'killed';

/** Listeners of a connection. None of these may throw. */
export interface CodexConnectionHost {
  readonly clock: Clock;
  readonly register: RegisterChild | undefined;
  ready(connection: CodexConnection): void;
  /** Told once, when it can no longer be used or did not come up; before what is in flight ends and before the process is gone. */
  lost(facts: FailureFacts, how: HowLost): void;
  /** The process and all it started are gone; `undefined` when there never was one. */
  gone(end: ProcessEnd): void;
  notified(method: string, params: unknown, bytes: number): void;
  asked(request: IncomingRequest): void;
  stray(stream: 'stdout' | 'stderr', line: string): void;
  /** Something is wrong that does not end the connection. */
  trouble(facts: FailureFacts): void;
  requested(id: number, method: string, params: unknown): void;
  requestEnded(end: RequestEnd): void;
  readonly line: ((direction: 'sent' | 'received', text: string) => void) | undefined;
  threw(error: unknown): void;
  /** Resolves when what is under way has let go; asked before an end in good order. Never rejects. */
  drained(): Promise<void>;
}

/** Settings of its integration that a connection has to know. */
export interface ConnectionSettings extends CodexSettings {
  /** Requests that may wait for their answers at once. */
  readonly maxInFlight: number;
}
