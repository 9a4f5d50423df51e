import type { BackendName } from './agentTypes.ts';
import type { Outcome } from '../../src/policy/failures/face.ts';
import type { Sink } from './agentStream.ts';
import type { Resume } from '../../src/streams/face.ts';
import type { HeardCalls } from '../../src/policy/spinning/face.ts';
import type { AgentEvent, AgentResult, AgentTurnOptions, AgentStartOptions } from './agentTypes.ts';

/** Kind of agent behind the interface; its turns are calls of its own integration. */
export interface AgentBackend {
  readonly name: BackendName;
  /** @param id - of the conversation to resume; without it a new one begins. Never rejects. */
  open(id: string | undefined, options: AgentStartOptions): Promise<Outcome<BackendConversation>>;
  /** Ends what runs for it. Always resolves. */
  stop(): Promise<void>;
}

/** A conversation as its backend has it. Its caller runs one turn at a time. */
export interface BackendConversation {
  readonly id: string | undefined;
  /** Never rejects, and is there at the turn's limit at the latest; what it leaves to end goes on behind. */
  turn(prompt: string, sink: Sink, options: TurnOptions): Promise<Outcome<AgentResult>>;
  /** Resolves when nothing of an earlier turn is under way any more. Never rejects. */
  released(): Promise<void>;
  /** Ends what runs for it. Always resolves. */
  stop(): Promise<void>;
}

/** {@link AgentTurnOptions}, checked, limits in ms, with a signal, which `interrupt()` aborts as well. */
export interface TurnOptions extends Omit<AgentTurnOptions, 'idleMs' | 'overallMs'> {
  readonly idleMs?: number | undefined;
  readonly overallMs?: number | undefined;
  readonly signal: AbortSignal;
  /** State of a turn that is read as it comes. @defaultValue it may be asked anew, whatever was told */
  readonly told?: ToldSoFar | undefined;
  /** Told of the calls that the agent makes by itself. @defaultValue nobody is, or the backend judges them itself */
  readonly ear?: HeardCalls | undefined;
}

/** State of the reader of a turn: half an answer is never begun anew. */
export interface ToldSoFar {
  /** Tells whether it may be asked again. */
  mayGoOn(): boolean;
  /** Way to go on, as the caller says. */
  readonly resume: Resume<string, AgentEvent> | undefined;
  /** The prompt that goes on with it; undefined where nothing was told yet, or nobody said how. */
  resumed(prompt: string): string | undefined;
}
