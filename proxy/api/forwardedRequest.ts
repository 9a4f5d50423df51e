import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import type { ClientKind } from './clients.ts';
import type { ContentLimits } from './contentWatch.ts';
import type { ExchangeSettings } from './exchangeSettings.ts';
import type { FailedAnswer } from './failedAnswer.ts';
import type { Passage } from './passage.ts';
import type { AskedModel, RequestBody } from './requestBody.ts';
import type { Route } from './route.ts';
import type { Upstream } from './upstream.ts';

/** A request that is there with its body. */
export interface Asked extends AskedModel {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly body: RequestBody;
  readonly route: Route;
  readonly client: ClientKind;
  readonly arrivedAt: number;
  /** True where the figures of its answer are counted. */
  readonly isCounted: boolean;
  /** The body will not be sent again. */
  readonly releaseBody: () => void;
}

/** Request as an attempt made for it sees it. */
export interface ForwardedRequest {
  readonly asked: Asked;
  readonly upstream: Pick<Upstream, 'host' | 'key' | 'request' | 'reached'>;
  readonly clock: Clock;
  readonly settings: Pick<ExchangeSettings, 'stage'>;
  readonly bytesMs: number;
  readonly contentLimits: ContentLimits;
  readonly maxPauseMs: number;
  /** The way through the circuit of the upstream that the attempt has. */
  readonly passage: Pick<Passage, 'ended'> | undefined;
  readonly isCommitted: boolean;
  /** True once it is time to show the client a sign of life, though there is no content yet. */
  readonly hasWaitedLong: boolean;
  isDone: boolean;
  lastAnswer: FailedAnswer | undefined;
  judged(facts: FailureFacts): FailureFacts;
  judgedError(error: unknown): FailureFacts;
  mayFollow(facts: FailureFacts): boolean;
  /** Tells that the text is one passage over and over. @returns the failure that it is, where it ends */
  repeatsItself(characters: number): FailureFacts | undefined;
  commit(answer: IncomingMessage, headers: readonly string[]): void;
}
