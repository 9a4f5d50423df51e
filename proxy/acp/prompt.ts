import type { AttemptContext, Call } from '../../src/calls/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { AcpTurn } from '../../src/protocol/acp/face.ts';
import type { McpAnswer, McpRequest } from '../../src/protocol/mcp/face.ts';
import type { AcpSession } from './acpSession.ts';

/** A `session/prompt` of the client, from its line to its one answer. */
export class Prompt {
  readonly request: Pick<McpRequest, 'id' | 'key'>;
  readonly session: AcpSession;
  /** Monotonic, in ms. */
  readonly startedAt: number;
  /** Kept until the agent begins with it: then it is not sent again. */
  line: Uint8Array | undefined;
  row: Call<Prompt, McpAnswer> | undefined = undefined;
  context: AttemptContext | undefined = undefined;
  /** What the agent told of it. */
  turn = new AcpTurn();
  /** The agent was sent it, and has not ended it. */
  isAtAgent = false;
  /** It is over for its client, and the agent is still at it, or was when it was told to stop. */
  isAbandoned = false;
  /** Monotonic, in ms. */
  abandonedAt = 0;
  /** The client has its answer. */
  delivered = false;
  /** The client has cancelled it. */
  isCancelled = false;
  /** The error of the agent itself, as it was written: it is passed rather than one of ours. */
  ownError: Uint8Array | undefined = undefined;
  /** Ends the work of the attempt. */
  settle: ((answer: McpAnswer) => void) | undefined = undefined;
  reject: ((error: Error) => void) | undefined = undefined;

  constructor({ id, key }: McpRequest, session: AcpSession, line: Uint8Array, startedAt: number) {
    this.request = { id, key };
    this.session = session;
    this.line = line;
    this.startedAt = startedAt;
  }

  /** Another attempt begins. */
  renew(): void {
    this.turn = new AcpTurn();
    this.ownError = undefined;
  }

  /** The agent told something of it. @param now - monotonic, in ms. */
  heard(update: Readonly<Record<string, unknown>>, now: number): void {
    if (this.turn.heard(update, now)) this.context?.touch();
    if (this.turn.begun) this.line = undefined;
  }

  /** The agent asked its client for something that belongs to it. */
  asked(): void {
    this.turn.asked();
    this.line = undefined;
    this.context?.touch();
  }

  /** Why it has no answer, where its agent was lost: what is known of its effects in words. */
  lossOf(facts: FailureFacts): FailureFacts {
    if (!this.turn.begun) return { ...facts, outcome: 'not_started' };
    const { deeds } = this.turn;
    const told = deeds === '' ? 'the turn had begun, no tool call was told' : deeds;
    return { ...facts, message: `${facts.message}; ${told}`, outcome: 'unknown', shouldRetry: false };
  }
}
