import type { Metric, Per } from '../budget.ts';
import type { Effect } from '../effects.ts';
import type { SpinningForm, SpinningStep } from '../spinning/spinningRule.ts';
import type { OrderFact } from './operatorFacts.ts';
import type { EffectOutcome, FailureKind, FailureReason } from '../failures/failure.ts';

/** Facts of sessions, and of budgets. */
export interface SessionFacts {
  /** The actor of a session is there, for the first time or after a restart; one that is kept has none before something is for it. */
  'session.started': { session: string; incarnation: number };
  /** The first message of an episode was refused; `refused` counts the ones before it that were not told. */
  'session.refused': {
    session: string;
    kind: string;
    reason: 'mailbox_full' | 'stopped' | 'closed' | 'owned_elsewhere' | 'unavailable';
    refused: number;
  };
  /** A session was taken up where an earlier run of it ended: messages to deliver, lost calls, and open ones that rules settle first. */
  'session.resumed': { session: string; waiting: number; lostCalls: number; openCalls: number; deadLetters: number };
  /** A message is not delivered any more: it ended its gateway too often, is too old, cannot be read, or its session was closed. */
  'session.dead_letter': { session: string; message: string; reason: 'poison' | 'expired' | 'malformed' | 'closed' };
  /** Sessions (500 at most are counted) have something to go on with and no gateway, such as this one; told 5 s after a start. */
  'session.unclaimed': { session: string; sessions: number };
  /** The session ended here: somebody closed or forgot it, it was idle, or it made room for others. Named again it goes on with what is kept of it. */
  'session.closed': {
    session: string;
    because: 'closed' | 'idle' | 'room' | 'forgotten';
    reason?: string | undefined;
    by?: string | undefined;
    /** A turn was under way, and was told to end. */
    cut: boolean;
    /** Messages that waited, and are dead letters. */
    deadLetters: number;
  };
  /** Another runtime that lives owns the session; messages are refused until it is gone. */
  'session.held': { session: string; by: string };
  /** This runtime has lost the session: another one took it over, or may as the database is out of reach. What it still does here has no effect. */
  'session.taken_over': { session: string };
  /** The session was idle, and was given to another runtime, which owned fewer. */
  'session.given_back': { session: string; to: string };
  /** A heartbeat made room for a newer one (drop-oldest), or joined one that waits (coalesce). */
  'session.heartbeat_dropped': { session: string; reason: 'drop_oldest' | 'coalesced' };
  /** A session began to process a message. */
  'session.turn_started': { session: string; turn: number; message: string; kind: string };
  /** It is done with the message, well or not. */
  'session.turn_ended': {
    session: string;
    turn: number;
    message: string;
    kind: string;
    ok: boolean;
    elapsedMs: number;
    error?: string | undefined;
  };
  /** The handler of a turn threw, or its turn was left behind; a turn that was cancelled is no failure. `kind` is that of the failure. */
  'session.turn_failed': {
    session: string;
    turn: number;
    message: string;
    kind: FailureKind;
    reason?: FailureReason | undefined;
    error: string;
    stack?: string | undefined;
    elapsedMs: number;
  };
  /** A tool call of a session ended with an error result; the session goes on. `lost`: its gateway had ended while it was under way. */
  'session.tool_failed': {
    session: string;
    turn: number;
    call: string;
    tool: string;
    integration: string;
    kind: FailureKind;
    reason?: FailureReason | undefined;
    retries: number;
    synthetic: boolean;
    outcome: EffectOutcome;
    effect?: Effect | undefined;
    lost?: true | undefined;
    message: string;
  };
  /** The watchdog ended a tool call or a turn. */
  'session.watchdog_fired': {
    session: string;
    turn: number;
    rule: 'tool_call' | 'turn';
    limitMs: number;
    tool?: string | undefined;
  };
  /** After the watchdog released a turn, the session took its next message (or is ready for it). */
  'session.recovered': { session: string; turn: number; releasedAfterMs: number };
  /** Releasing a turn did not succeed within its limit; the session is restarted. */
  'session.recovery_failed': { session: string; turn: number; afterMs: number };
  /** A person did not answer a question of a turn, or it could not be put. */
  'session.question_failed': {
    session: string;
    turn: number;
    what: string;
    kind: FailureKind;
    message: string;
    waitedMs: number;
  };
  /** The agent asks for the operator. */
  'session.escalated': { session: string; turn: number; reason: string };
  /** A result arrived after its call had been answered. */
  'session.late_result': { session: string; turn: number; call: string; tool: string };
  /** Repetition without progress came to a step, in a session, or for a client or an agent that `session` tells apart; `message` says it in a line. */
  'session.spinning': {
    session: string;
    turn?: number | undefined;
    integration?: string | undefined;
    tool: string;
    step: SpinningStep;
    form: SpinningForm;
    count: number;
    period?: number | undefined;
    message: string;
    answer: string;
  };
  /** Of a budget 80 % are spent, whoever spent them. */
  'budget.warning': BudgetFact;
  /** A budget is spent: nothing new is begun of what it holds for, until it is raised or a new window begins. */
  'budget.spent': BudgetFact;
  /** An operator had another limit hold, until the window ends. */
  'budget.raised': BudgetFact & OrderFact;
}

/** A limit of a session, an integration, a proxy or a run, by its `scope`, and what is used of it. */
interface BudgetFact {
  scope: string;
  session?: string | undefined;
  integration?: string | undefined;
  per: Per;
  metric: Metric;
  most: number;
  used: number;
  message: string;
}
