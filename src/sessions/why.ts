import type { CallWhy } from '../calls/callWhy.ts';
import type { Envelope } from './acceptance.ts';
import type { Turn } from './turn.ts';
import type { TurnWatch } from './watch.ts';

/** What a tool's integration says of itself, for who asks why a call takes so long. */
export interface TargetWhy {
  /** State of the integration's machine. */
  readonly state: string;
  /** Of its breaker: closed, open, half-open, isolated. */
  readonly circuit: string;
  /** When the circuit may be tried next, in ms from now. */
  readonly probeInMs?: number | undefined;
  /** The process behind it, and the last line it printed. */
  readonly process?: { readonly pid?: number | undefined; readonly lastLine?: string | undefined } | undefined;
}

/** A tool call of a session that is pending. */
export interface ToolCallWhy {
  readonly call: string;
  readonly integration: string;
  readonly tool: string;
  readonly sinceMs: number;
  /** Absent while the call is being written to the ledger. */
  readonly progress?: CallWhy | undefined;
  readonly target?: TargetWhy | undefined;
}

/** A tool call that is pending, and when the watchdog ends it. */
export interface WatchedCall {
  readonly call: ToolCallWhy;
  readonly watchdogInMs: number;
}

/** A question that waits for a person. */
export interface QuestionWhy {
  readonly what: string;
  readonly sinceMs: number;
  readonly deadlineInMs: number;
}

/** What a session waits for, and which rule will end it and when. */
export interface SessionWhy {
  readonly session: string;
  /** State of the session's machine. */
  readonly state: string;
  /** Messages in the mailbox; the one being processed is not counted. */
  readonly waiting: number;
  /** Another runtime has the session. */
  readonly heldElsewhere: boolean;
  readonly turn?:
    | {
        readonly turn: number;
        readonly message: string;
        readonly kind: string;
        /** How often the message has been begun. */
        readonly delivery: number;
        readonly sinceMs: number;
      }
    | undefined;
  readonly calls: readonly ToolCallWhy[];
  readonly questions: readonly QuestionWhy[];
  /** What the watchdog does next if nothing else happens. */
  readonly next?:
    | { readonly rule: 'tool_call' | 'turn' | 'question'; readonly inMs: number; readonly what: string }
    | undefined;
}

/** A turn that has begun. */
export interface TurnUnderWay {
  readonly turn: Turn;
  readonly envelope: Pick<Envelope, 'id' | 'message'>;
  readonly watch: TurnWatch;
  readonly startedAt: number;
}

/** What the turn under way waits for. */
export function whyTurn(
  running: TurnUnderWay | undefined,
  now: number,
): Pick<SessionWhy, 'turn' | 'calls' | 'questions' | 'next'> {
  if (running === undefined) return { calls: [], questions: [] };
  const { turn, envelope, watch, startedAt } = running;
  const calls = turn.pendingCalls();
  const questions = turn.pendingQuestions();
  const rules: NonNullable<SessionWhy['next']>[] = [
    ...calls.map(({ call, watchdogInMs }) => ({ rule: 'tool_call' as const, inMs: watchdogInMs, what: call.tool })),
    ...questions.map(({ what, deadlineInMs }) => ({ rule: 'question' as const, inMs: deadlineInMs, what })),
  ];
  // Calls and questions have limits of their own; the turn's counts only while there are none.
  if (rules.length === 0) rules.push({ rule: 'turn', inMs: watch.inMs(now), what: `turn ${turn.number}` });
  return {
    turn: {
      turn: turn.number,
      message: envelope.id,
      kind: envelope.message.kind,
      delivery: turn.delivery,
      sinceMs: now - startedAt,
    },
    calls: calls.map(({ call }) => call),
    questions,
    next: rules.reduce((first, rule) => (rule.inMs < first.inMs ? rule : first)),
  };
}
