import type { CallStepWhy } from '../calls/callProgress.ts';
import type { CallRule, CallWhy, KeptWhy } from '../calls/callWhy.ts';
import type { Stopping } from '../calls/draining.ts';
import type { FailureKind } from '../policy/failures/failure.ts';
import type { SessionFacts } from '../policy/facts/sessionFacts.ts';
import type { Spinning } from '../policy/spinning/spinningRule.ts';

/** State of a tool's integration in its own words: why a call takes so long. */
export interface TargetWhy {
  /** State of the integration's machine; `backoff`: all its calls wait, whatever for. */
  readonly state: string;
  /** State of its breaker: closed, open, half-open, isolated. */
  readonly circuit: string;
  /** Time until the circuit may be tried next, in ms from now. */
  readonly probeInMs?: number | undefined;
  /** Time until its server, which is gone, is started again, in ms from now. */
  readonly restartInMs?: number | undefined;
  /** The process behind it, and the last line it printed. */
  readonly process?: { readonly pid?: number | undefined; readonly lastLine?: string | undefined } | undefined;
}

/** Work under way below a call, in another program: a request to a model whose answer is a stream, or the call of a tool. Times are in ms. */
export interface LayerWhy {
  readonly kind: 'stream' | 'call';
  /** Program that has it, such as `unwedge mcp files`. */
  readonly by: string;
  /** Tool that is called, or kind of the request. */
  readonly what: string;
  readonly sinceMs: number;
  /** Conversations that it is part of, by the ids that its client gives them. @defaultValue not known */
  readonly conversations?: readonly string[] | undefined;
  /** Time since content of the model came, or since it was asked where none has. @defaultValue nobody sees its content */
  readonly silentMs?: number | undefined;
  /** Time to the limit of its own that ends it, of a stream whose content is seen to that on content. @defaultValue it has none */
  readonly limitInMs?: number | undefined;
}

/** Picks those of one conversation. Calls are those of its agent: where that works in several conversations, each may be the one that waits. */
export const layersOf = (conversation: string | undefined, layers: readonly LayerWhy[]): readonly LayerWhy[] =>
  conversation === undefined
    ? []
    : layers.filter(({ kind, conversations = [] }) => kind === 'call' || conversations.includes(conversation));

/** A tool call of a session that is pending. */
export interface ToolCallWhy {
  readonly call: string;
  readonly integration: string;
  readonly tool: string;
  readonly sinceMs: number;
  /** Absent while the call is being written to the ledger. */
  readonly progress?: CallWhy | undefined;
  readonly target?: TargetWhy | undefined;
  /** What the prompt of an agent, or a call without its budget, waits for, in words. @defaultValue not known */
  readonly waitsFor?: string | undefined;
  /** Id by which the agent of a prompt knows its conversation. @defaultValue it is no prompt */
  readonly conversation?: string | undefined;
  /** Work below it. @defaultValue none is known */
  readonly behind?: readonly LayerWhy[] | undefined;
}

/** A tool call of the turn under way that has its result. */
export interface EndedCallWhy extends Pick<ToolCallWhy, 'call' | 'integration' | 'tool' | 'sinceMs'> {
  readonly endedAgoMs: number;
  readonly ok: boolean;
  /** True where unwedge made the result, for want of an answer. @defaultValue false */
  readonly synthetic?: boolean | undefined;
  /** Failure as the agent was told of it. */
  readonly failure?: { readonly kind: FailureKind; readonly message: string } | undefined;
  readonly attempts: number;
  readonly trail: readonly CallStepWhy[];
}

/** A tool call that is pending, and when the watchdog ends it. */
export interface WatchedCall {
  readonly call: ToolCallWhy;
  /** Undefined of one that waits for its budget. */
  readonly watchdogInMs: number | undefined;
}

/** A question that waits for a person. */
export interface QuestionWhy {
  /** Names the question within its turn; its id in the inbox where `inbox` says so. */
  readonly question: string;
  /** True where `unwedge inbox answer` takes an answer. @defaultValue false */
  readonly inbox?: boolean | undefined;
  readonly what: string;
  readonly sinceMs: number;
  /** @defaultValue it waits for as long as it takes */
  readonly deadlineInMs?: number | undefined;
}

/** A rule that will end a wait, unless something else does before. */
export interface RuleWhy {
  /** Names the rule of this very wait for {@link Session.fire}: that of another turn, call, attempt or wait has another. */
  readonly id: string;
  /** `tool_call`, `turn` and `question` are of the session's own watchdog; `release` leaves a turn behind that was told to end; the others are of a call. */
  readonly rule: 'tool_call' | 'turn' | 'question' | 'release' | CallRule['rule'];
  readonly inMs: number;
  /** The tool, the question or the turn. */
  readonly what: string;
  /** The pending call that it is about. */
  readonly call?: string | undefined;
  /** Call whose limit it is, where it is of another one that this one waits for. @defaultValue its own */
  readonly of?: string | undefined;
}

/** Waits of a session, and which rule will end it and when. */
export interface SessionWhy {
  readonly session: string;
  /** State of the session's machine. */
  readonly state: string;
  /** Messages in the mailbox, and those that an earlier process left; the one being processed is not counted. */
  readonly waiting: number;
  /** Another runtime has the session. */
  readonly heldElsewhere: boolean;
  /** @defaultValue the gateway does not stop */
  readonly stopping?: Stopping | undefined;
  readonly turn?:
    | {
        readonly turn: number;
        readonly message: string;
        readonly kind: string;
        /** Number of times the message has been begun. */
        readonly delivery: number;
        readonly sinceMs: number;
        /** Time that the message had waited in the mailbox before. */
        readonly waitedMs?: number | undefined;
      }
    | undefined;
  readonly calls: readonly ToolCallWhy[];
  /**
   * Calls of an earlier process whose reconcile rules are asked what became of them: the messages that wait are delivered after that.
   * @defaultValue none
   */
  readonly recovering?: readonly ToolCallWhy[] | undefined;
  /** Calls of the turn that are over, oldest first, the last 50. @defaultValue none */
  readonly ended?: readonly EndedCallWhy[] | undefined;
  readonly questions: readonly QuestionWhy[];
  /** Calls that a limit has ended and whose work goes on, for an equal call to join. @defaultValue none */
  readonly kept?: readonly KeptWhy[] | undefined;
  /** Repetition without progress among the last calls of the turn, and the step that follows. @defaultValue none */
  readonly spinning?:
    | (Omit<SessionFacts['session.spinning'], 'session' | 'turn'> & Pick<Spinning, 'next'> & { readonly id: string })
    | undefined;
  /** What is spent of its budget, in a sentence. @defaultValue it has none */
  readonly budget?: string | undefined;
  /** The limits of the watchdog, and what each pending call meets next, soonest first. */
  readonly rules: readonly RuleWhy[];
  /** Next event if nothing else happens: the first of the rules. */
  readonly next?: RuleWhy | undefined;
}

/** The id of the watchdog's rule on a call. */
export const watchdogRule = (call: string): string => `${call}:watchdog`;

/** The id of a rule of a call, from the one that it has there. */
export const callRule = (call: string, rule: string): string => `${call}:${rule}`;
