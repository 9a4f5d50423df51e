import type { Clock } from '../../../src/policy/clock.ts';
import type { FailureFacts } from '../../../src/policy/failure.ts';
import type { RpcError, RpcId } from '../../../src/protocol/jsonRpc.ts';
import type { RpcResponseError } from './rpcPeerErrors.ts';

/** A request of the other side. The first answer counts; `false` when it could not be sent, or one was sent before. */
export interface IncomingRequest {
  readonly id: RpcId;
  readonly method: string;
  readonly params: unknown;
  answer(result: unknown): boolean;
  fail(error: RpcError): boolean;
}

/** End of a request of ours. */
export interface RequestEnd {
  readonly id: number;
  readonly method: string;
  readonly elapsedMs: number;
  readonly how: 'answered' | 'failed' | 'timeout' | 'given_up' | 'lost';
  /** The limit it had, in ms. */
  readonly limitMs?: number | undefined;
  /** Why it was not answered. */
  readonly facts?: FailureFacts | undefined;
}

/** Listeners of a connection. What a callback throws is passed to `threw`, and goes no further. */
export interface RpcPeerListener {
  /** @param bytes - about as long as its line. */
  notified(method: string, params: unknown, bytes: number): void;
  asked(request: IncomingRequest): void;
  /** A line that is no message, an answer that nobody waits for, or the rest of a line at the end of the stream. */
  strange(what: 'malformed' | 'unknown_answer' | 'partial', text: string): void;
  /** So many lines in a row are no messages that nothing more is asked. */
  unhealthy(lines: number): void;
  /** A message is longer than may be. */
  tooLarge(): void;
  requested?(id: number, method: string, params: unknown): void;
  ended?(end: RequestEnd): void;
  /** Every line as it goes over the wire, for debugging. */
  line?(direction: 'sent' | 'received', text: string): void;
  threw(error: unknown): void;
}

export interface RpcPeerOptions {
  readonly clock: Clock;
  /** Takes whole lines. False when nobody reads them any more; the owner of the pipe has noticed that by then. */
  readonly write: (line: string) => boolean;
  readonly maxMessageBytes: number;
  readonly maxInFlight: number;
  /** Lines in a row that are no messages, before it counts as unhealthy. */
  readonly maxMalformed: number;
  /** Reads the meaning of an error response. */
  readonly readError: (error: RpcResponseError) => FailureFacts;
  readonly listener: RpcPeerListener;
}

export interface RequestOptions {
  /** In ms. @defaultValue none: the answer or the end of the connection */
  readonly limitMs?: number | undefined;
  /** Gives the request up; its answer is dropped. The other side is told nothing. */
  readonly signal?: AbortSignal | undefined;
  /** Sent however many wait and whatever the other side writes: it ends something. @defaultValue false */
  readonly urgent?: boolean | undefined;
}
