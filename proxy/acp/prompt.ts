import type { AttemptContext, Call, CallSettings } from '../../src/calls/face.ts';
import type { Timer } from '../../src/policy/face.ts';
import type { FailureFacts, Outcome } from '../../src/policy/failures/face.ts';
import {
  type AcpCalls,
  AcpTurn,
  TextRepeats,
  isConversation,
  isAsked,
  isNotice,
  threadSign,
} from '../../src/protocol/acp/face.ts';
import {
  type McpAnswer,
  type McpParams,
  type McpRequest,
  fieldsOf,
  memberSpan,
  replaced,
} from '../../src/protocol/mcp/face.ts';
import type { Replayed } from '../wire/sessionRecord.ts';

/** A client in this process: its prompts have limits of their own, and outcomes rather than lines. */
export interface PromptPort {
  readonly settings: Partial<CallSettings<Prompt, McpAnswer>>;
  /** Told once. Must not throw. */
  settled(outcome: Outcome<McpAnswer>): void;
}

/** A `session/prompt` of the client, from its line to its one answer. */
export class Prompt {
  readonly request: Pick<McpRequest, 'id' | 'key'>;
  readonly session: AcpSession;
  readonly port: PromptPort | undefined;
  /** Monotonic, in ms. */
  readonly startedAt: number;
  /** Kept until the agent begins with it: then it is not sent again. */
  line: Uint8Array | undefined;
  row: Call<Prompt, McpAnswer> | undefined = undefined;
  context: AttemptContext | undefined = undefined;
  /** What the agent told of it. */
  turn = new AcpTurn();
  repeats = new TextRepeats<Uint8Array | string>();
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
  /** Answers it in place of an agent that does not hear the cancel. */
  cancelTimer: Timer | undefined = undefined;
  /** Tools that were under way when it was given up. */
  leftTools: readonly string[] = [];
  /** The error of the agent itself, as it was written: it is passed rather than one of ours. */
  ownError: Uint8Array | undefined = undefined;
  /** Ends the work of the attempt. */
  settle: ((answer: McpAnswer) => void) | undefined = undefined;
  reject: ((error: Error) => void) | undefined = undefined;

  constructor({ id, key }: McpRequest, session: AcpSession, line: Uint8Array, startedAt: number, port?: PromptPort) {
    this.request = { id, key };
    this.session = session;
    this.line = line;
    this.startedAt = startedAt;
    this.port = port;
  }

  /** Another attempt begins. */
  renew(): void {
    this.turn = new AcpTurn();
    this.repeats = new TextRepeats();
    this.ownError = undefined;
  }

  /**
   * The agent told something of it.
   * @param line - as it is passed. @param now - monotonic, in ms.
   * @returns what the client is told: nothing where it has that already; what was held back besides.
   */
  heard(update: McpParams, line: Uint8Array | string, now: number): readonly (Uint8Array | string)[] {
    const passed = this.#passed(update, line);
    // An answer that is told again and again gets nowhere.
    if (passed.length > 0 && this.turn.heard(update, now)) this.context?.touch();
    if (this.turn.begun) this.line = undefined;
    return passed;
  }

  #passed(update: McpParams, line: Uint8Array | string): readonly (Uint8Array | string)[] {
    const { type, text } = fieldsOf(update['content']);
    if (update['sessionUpdate'] !== 'agent_message_chunk' || type !== 'text' || typeof text !== 'string') {
      if (threadSign(update) === 'again') this.repeats.beginsAnew();
      else if (isConversation(update)) this.repeats.reset();
      return [line];
    }
    if (isNotice(text)) {
      if (isAsked(text)) this.repeats.beginsAnew();
      return [line];
    }
    const { before, own } = this.repeats.take(text, line, update['messageId']);
    if (own === 'none') return before;
    return [...before, own === 'all' ? line : withText(line, own.rest)];
  }

  /** The agent asked its client for something that belongs to it. */
  asked(): void {
    this.turn.asked();
    this.line = undefined;
    this.context?.touch();
  }

  /** Why it has no answer, where its agent was lost: what is known of its effects in words. */
  lossOf(facts: FailureFacts): FailureFacts {
    const { deeds, begun } = this.turn;
    // It may have acted without a word.
    const mayHaveActed = this.context?.effect === 'mutating' || facts.reason === 'message_too_large';
    if (!begun && !mayHaveActed)
      return { ...facts, message: `${facts.message}; it had told nothing of the turn`, outcome: 'not_started' };
    const first = begun ? 'the turn had begun' : 'it had told nothing of the turn';
    const told = deeds === '' ? `${first}, no tool call was told` : deeds;
    return { ...facts, message: `${facts.message}; ${told}`, outcome: 'unknown', shouldRetry: false };
  }
}

/** The line of an update with another text. */
function withText(line: Uint8Array | string, rest: string): string {
  const text = typeof line === 'string' ? line : Buffer.from(line).toString('utf8');
  let start = 0;
  for (const name of ['params', 'update', 'content']) start = memberSpan(text, name, start)?.start ?? 0;
  return replaced(text, memberSpan(text, 'text', start), rest);
}

/** A session as the client knows it, over all processes of the agent. */
export class AcpSession {
  /** As the client knows it. */
  readonly id: string;
  /** As the agent of the moment knows it: another one where that could not load it. */
  agentId: string;
  /** Parameters that it was opened with, but its id; undefined where nobody saw them. */
  opening: McpParams | undefined = undefined;
  /** The last request of each kind that changed how it goes on (mode, model, option). */
  readonly settings = new Map<string, Replayed>();
  /** Number of the incarnation that has it. */
  knownTo = 0;
  /** An incarnation is loading it: what is told of the past the client has already. */
  isReplaying = false;
  /** Time when its agent last told something of it, monotonic, in ms. */
  heardAt = Number.NEGATIVE_INFINITY;
  /** Prompt that the agent is at, answered or not. */
  current: Prompt | undefined = undefined;
  /** The calls of its tools; undefined where nobody looks for repetition, and there is no budget. */
  calls: AcpCalls | undefined = undefined;
  /** Prompts that wait for it. */
  readonly held: Prompt[] = [];

  constructor(id: string) {
    this.id = id;
    this.agentId = id;
  }

  /** The prompt that its client waits for; undefined where the agent is at none, or at one that has its answer. */
  get active(): Prompt | undefined {
    return this.current?.isAbandoned === false ? this.current : undefined;
  }

  /** True while what the agent tells of it is of a turn that has its answer. */
  get isStale(): boolean {
    return this.current?.isAbandoned === true;
  }

  /** A line to the agent, or from it, with the id that its reader knows. */
  translated(text: string, to: 'agent' | 'client'): string {
    const params = memberSpan(text, 'params');
    const span = params === undefined ? undefined : memberSpan(text, 'sessionId', params.start);
    return replaced(text, span, to === 'agent' ? this.agentId : this.id);
  }

  get isRenamed(): boolean {
    return this.agentId !== this.id;
  }
}
