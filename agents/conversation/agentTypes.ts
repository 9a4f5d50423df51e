import {
  type Given,
  type Key,
  type Values,
  anything,
  boolean,
  callback,
  choice,
  duration,
  having,
  signal,
  text,
  variables,
} from '../../src/policy/options/face.ts';
import type { ApprovalHandler } from '../../src/integrations/approvals/face.ts';
import { type PresetName, effects, policyKey } from '../../src/policy/face.ts';
import { spinningKey } from '../../src/policy/spinning/face.ts';
import type { FailureKind, Outcome } from '../../src/policy/failures/face.ts';
import type { ChunkStream, Resume } from '../../src/streams/face.ts';
import type { AgentCalls, AgentEffects } from '../../src/protocol/face.ts';
import type { AcpBackendOptions } from './acp/acpBackendOptions.ts';
import type { ClaudeBackendOptions } from './claude/claudeBackendOptions.ts';
import type { CodexOptions } from '../codex/codexOptions.ts';
import type { CodexThreadOptions } from '../codex/codexTypes.ts';

/** Events of a turn, in order; the same for every backend. */
export type AgentEvent =
  /** A piece of the answer. */
  | { readonly type: 'text'; readonly text: string }
  /** A piece of what the model thinks aloud. */
  | { readonly type: 'reasoning'; readonly text: string }
  /** The agent wants to use a tool; `action` says what for, in short. */
  | { readonly type: 'tool.started'; readonly id: string; readonly tool: string; readonly action: string }
  | { readonly type: 'tool.ended'; readonly id: string; readonly tool: string; readonly ok: boolean }
  /** A request or the whole turn is tried again, by the agent itself or by us. */
  | {
      readonly type: 'retrying';
      readonly by: 'agent' | 'unwedge';
      readonly attempt: number | undefined;
      /** In ms. */
      readonly delayMs: number | undefined;
      readonly message: string;
    }
  | { readonly type: 'approval.requested'; readonly id: string; readonly tool: string; readonly action: string }
  | {
      readonly type: 'approval.resolved';
      readonly id: string;
      readonly tool: string;
      readonly decision: 'accept' | 'decline';
      readonly reason: string | undefined;
    }
  /** Another agent goes on with the prompt, and all that follows comes from it. */
  | {
      readonly type: 'fell_back';
      readonly from: string;
      readonly to: string;
      readonly kind: FailureKind;
      readonly message: string;
    }
  /** Anything else worth a line. */
  | { readonly type: 'notice'; readonly message: string };

/** Tokens of a turn, as far as its backend told. */
export interface AgentUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Result of a turn that ended well. */
export interface AgentResult {
  /** The answer, up to 1 MB. */
  readonly text: string;
  /** Id to resume the conversation by, at the backend that answered. */
  readonly id: string | undefined;
  /** The backend that answered: the agent's own, or that of its fallback. */
  readonly backend: BackendName;
  /** Name of the agent that answered. */
  readonly agent: string;
  /** Effects of tools that ran and may have changed something. */
  readonly effects: AgentEffects;
  readonly usage?: AgentUsage | undefined;
  /** Calls that the backend that answered made, as far as it told. */
  readonly calls?: AgentCalls | undefined;
}

/**
 * A turn under way. As an async iterable it gives its events, to one reader; what a slow reader leaves unread is bounded, its text
 * kept together and the oldest given up (`missed`). The iterator ends when the outcome is there; nobody has to read.
 */
export interface AgentTurn extends AsyncIterable<AgentEvent, undefined, void> {
  /** Outcome of the turn. Never rejects. */
  readonly outcome: Promise<Outcome<AgentResult>>;
  /** Events that were lost because nobody read them in time. */
  readonly missed: number;
}

/** The options of a turn. */
export const turnKeys = {
  /** Ends the turn when aborted. */
  signal,
  /** Effect that the turn may have on the world; says whether it may be repeated after its answer was lost. @defaultValue unspecified */
  effect: choice(effects),
  /** Names the turn in events and records. */
  label: text(),
  /** Without a sign of life, in ms above 0. @defaultValue the policy's */
  idleMs: duration(),
  /** For the whole turn, that of a fallback included, in ms above 0. @defaultValue the policy's, of each agent its own */
  overallMs: duration(),
};

/** Options of one turn that differ from its agent. */
export interface AgentTurnOptions extends Given<typeof turnKeys> {}

/** {@link AgentTurnOptions}, checked; limits in ms. */
export type CheckedTurn = Values<typeof turnKeys>;

const resumeKeys = {
  /**
   * Gives the prompt of what goes on after a failure in the middle: a further attempt, or the fallback. It is asked with the last event that told something, the prompt, and
   * the number of such events so far. @defaultValue none: once it has told something, a turn is neither tried again nor handed to the fallback
   */
  resume: callback<Resume<string, AgentEvent>>(),
};

/** Options of a turn that is read as it comes. */
export interface AgentStreamOptions extends AgentTurnOptions, Given<typeof resumeKeys> {}

export const streamKeys = { ...turnKeys, ...resumeKeys };

/** The options of a start or a resumption. */
export const startKeys = {
  /** Gives up the start when aborted. */
  signal,
};

/** Options of the start or resumption of a conversation. */
export interface AgentStartOptions extends Given<typeof startKeys> {}

/** A turn that is read as it comes: its events are the chunks. It begins at once, and ends as any call does. */
export interface AgentTurnStream extends ChunkStream<AgentEvent> {
  /** Outcome of the turn, with the whole answer. Never rejects, and waits for no reader. */
  readonly outcome: Promise<Outcome<AgentResult>>;
  /** Events that were lost because nobody read them in time: what waits is bounded, and the agent works on. */
  readonly missed: number;
}

/** Conversation with an agent; its turns follow one another. */
export interface Conversation {
  readonly agent: string;
  /** Id to resume it by, at the agent's own backend; undefined until known. */
  readonly id: string | undefined;
  /** True while a turn is under way. */
  readonly busy: boolean;
  /**
   * Begins a turn. While one is under way another is refused (`too_many_requests`, `scope_busy`).
   * @throws TypeError or RangeError at once when the prompt or an option is wrong.
   */
  send(prompt: string, options?: AgentTurnOptions): AgentTurn;
  /**
   * Begins a turn that is read as it comes. Nothing is said twice: once it has told something it is neither tried again nor handed to the fallback, but by
   * `resume`. A reader that leaves ends the turn (`cancelled`, `reader_left`); when the turn fails, the loop throws an {@link IntegrationError}
   * after the events that came. While a turn is under way another is refused.
   * @throws TypeError or RangeError at once when the prompt or an option is wrong.
   *
   * @example
   * const { chunks, outcome } = conversation.stream('What does this project do?');
   * for await (const event of chunks) if (event.type === 'text') client.write(event.text);
   */
  stream(prompt: string, options?: AgentStreamOptions): AgentTurnStream;
  /** Ends the turn under way (`cancelled`); the conversation goes on. Resolves when the agent has let go of it. Never rejects. */
  interrupt(reason?: unknown): Promise<void>;
  /** Ends the turn under way, and what runs for the conversation. It can be resumed by its id. Always resolves. */
  stop(): Promise<void>;
}

/** Something that answers prompts, with tools of its own: Claude or Codex, supervised, through one interface. */
export interface Agent {
  readonly name: string;
  readonly backend: BackendName;
  /** Begins a conversation. Never rejects. */
  start(options?: AgentStartOptions): Promise<Outcome<Conversation>>;
  /**
   * Takes a conversation up again by its id. Never rejects.
   * @throws TypeError or RangeError at once when the id is no name.
   */
  resume(id: string, options?: AgentStartOptions): Promise<Outcome<Conversation>>;
  /** Ends every conversation; none can be begun any more. Always resolves. */
  stop(): Promise<void>;
}

/** Payload of the question to the approver. */
export interface AgentApproval {
  readonly tool: string;
  /** Input that the tool is to be given, as the backend has it. */
  readonly input: unknown;
}

/** Options that are Codex's alone: how its app-server is run, and how threads are begun. */
export interface CodexBackendOptions
  extends Omit<CodexOptions, 'cwd' | 'env' | 'policy' | 'approve' | 'approvalMs' | 'effect'> {
  /** Options to begin and resume its threads: `sandbox`, `approvalPolicy` and so on. @defaultValue {} */
  readonly thread?: Omit<CodexThreadOptions, 'cwd' | 'model' | 'signal'> | undefined;
}

/** Kind of backend of an agent. */
export type BackendName = 'claude' | 'codex' | 'acp';

/** The backends there are. */
export const agentBackends: readonly BackendName[] = ['claude', 'codex', 'acp'];

/** Preset that the policy of an agent begins with. */
export const presetOf = (backend: BackendName = 'acp'): PresetName => presetNames[backend];

const presetNames = { claude: 'sdk', codex: 'codex', acp: 'acp' } as const;

/** The options of an agent, but for what is its backend's own. */
export const agentKeys = {
  /** Backend that answers: `claude`, `codex`, or with `acp` any agent of the Agent Client Protocol. @defaultValue 'acp' where that is given */
  backend: choice(agentBackends),
  /** The model, as the backend names it. @defaultValue what the backend is configured for */
  model: text(),
  /** Directory in which the agent works. @defaultValue the working directory of the runtime */
  cwd: text(),
  /**
   * Variables set for the agent, beside what it inherits: by default the whole environment of the runtime, keys and tokens included. One that
   * is undefined is taken out. @defaultValue {}
   */
  env: variables,
  /**
   * Base that `env` adds to: the whole environment of the runtime, or HOME, PATH and their like, certificates and proxies alone.
   * @defaultValue the gateway's `environment`, which is 'extend' unless it is set
   */
  envMode: choice(['extend', 'safe']),
  /** The limits, retries and circuit breaker of its turns. @defaultValue preset `sdk` for Claude, `codex` for Codex, `acp` for others */
  policy: policyKey,
  /** Asks whether a tool may be used; its payload is an {@link AgentApproval}. @defaultValue what needs to be asked for is declined */
  approve: callback<ApprovalHandler>(),
  /** Time in ms above 0 that a question waits for its answer; then it is declined. @defaultValue 30000, or that of the inbox where one is on */
  approvalMs: duration(),
  /**
   * The agent that goes on when this one cannot answer, for a reason that another agent can cure. It does not go on when the request
   * itself is wrong or was cancelled. It is told what was said and done so far.
   */
  fallback: having<Agent>('an agent', ['start']),
  /** Lets the fallback go on although tools may have changed something, where a turn's effect is unspecified. @defaultValue false */
  fallBackAfterEffects: boolean({ default: false }),
  /** Step to which it goes against calls that the agent repeats without progress. @defaultValue told of at 4; 20 equal failures in a turn end it (`spinning`) */
  spinning: spinningKey,
  /** Only with the backend `claude`. */
  claude: anything as Key<ClaudeBackendOptions | undefined>,
  /** Only with the backend `codex`. */
  codex: anything as Key<CodexBackendOptions | undefined>,
  /** Only with the backend `acp`. */
  acp: anything as Key<AcpBackendOptions | undefined>,
};

/** Kind of an agent, and the way it is run and supervised. */
export interface AgentOptions extends Given<typeof agentKeys> {}
