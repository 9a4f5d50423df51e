import type { BudgetAccount, BudgetParts } from '../calls/rates/budgetAccount.ts';
import type { DeadlineQueue } from '../calls/deadlineQueue.ts';
import type { Tracing } from '../calls/tracing.ts';
import type { SessionEvent } from '../machines/session.ts';
import type { Clock } from '../policy/clock.ts';
import type { KeptFacts } from '../policy/facts/facts.ts';
import type { Acceptance, Envelope } from './acceptance.ts';
import type { History } from './history.ts';
import type { Inbox } from './inbox.ts';
import type { Mailbox, Message } from './mailbox.ts';
import type { CheckedSessionOptions } from './sessionOptions.ts';
import type { SessionLedger } from './sessionStore.ts';
import type { ToolPort } from './toolPort.ts';
import type { TurnWatch } from './watch.ts';
import type { SessionWhy } from './why.ts';

/** Whom a message is for. */
interface Addressee {
  send(message: Message, options: { readonly key?: string | undefined }): Promise<Acceptance>;
}

/** Surroundings that a session is given by its host. */
export interface SessionSurroundings {
  readonly id: string;
  readonly clock: Clock;
  readonly deadlines: DeadlineQueue;
  readonly facts: KeptFacts;
  readonly tools: ToolPort;
  /** Gives what may be told of what it waits for; lists keep their order. @defaultValue all of it */
  readonly shown?: ((why: SessionWhy) => SessionWhy) | undefined;
  /** Takes secrets out of a text of ours, as a failure's is: it is handed out, and kept. @defaultValue nothing is taken out */
  readonly clean?: ((text: string) => string) | undefined;
  /** Budgets of its runtime. @defaultValue its own is of no account */
  readonly budgets?: BudgetParts | undefined;
  /** Questions to people that outlive the process. @defaultValue each is asked by its code alone */
  readonly inbox?: Inbox | undefined;
  /** Follows its turns. @defaultValue nobody does */
  readonly tracing?: Tracing | undefined;
  /** Announces that the session will be opened on a store; it takes no message before. @defaultValue false */
  readonly kept?: boolean | undefined;
  /** Lets go of it once it has ended. Must not reject. @defaultValue nothing has to */
  readonly left?: ((session: string) => Promise<void>) | undefined;
  /** The session of this id that is, or is adopted, once it has ended. @throws what its adoption throws. @defaultValue there is none */
  readonly named?: ((session: string) => Addressee | undefined) | undefined;
  /** Told of every message that is sent before the actor of the session has started. */
  readonly sent?: ((session: string) => void) | undefined;
  /** Starts its actor now: there is none before something is for it. @defaultValue its actor starts with its runtime */
  readonly wakes?: ((session: string) => void) | undefined;
  /** Tells whether its runtime runs. */
  readonly isRunning?: (() => boolean) | undefined;
}

/** Surroundings that all parts of one session share. */
export interface SessionScope
  extends Omit<
      SessionSurroundings,
      'budgets' | 'clean' | 'isRunning' | 'kept' | 'left' | 'named' | 'sent' | 'shown' | 'wakes'
    >,
    Pick<CheckedSessionOptions, 'watchdog' | 'historyLimit'> {
  readonly clean: (text: string) => string;
  readonly budget: BudgetAccount | undefined;
  readonly mailbox: Mailbox<Envelope>;
  readonly history: History;
  readonly spinning: CheckedSessionOptions['spinning'] | undefined;
  /** True once the session takes nothing new: it has stopped, or will when the turn under way has ended. */
  draining: boolean;
  /** Tells the session's machine, if it runs. */
  dispatch(event: SessionEvent): void;
}

/** Surroundings that the parts of one turn share. */
export interface TurnScope {
  readonly session: SessionScope;
  readonly number: number;
  /** The id of its message. */
  readonly message: string;
  /** The number and the id by which that was first accepted: another one, of a dead letter that was sent again. */
  readonly first: { readonly number: number; readonly id: string };
  /** Number of times the message has been begun, this one included. */
  readonly delivery: number;
  readonly watch: TurnWatch;
  /** Ledger in which calls are written before they are dispatched; absent where nothing is kept. */
  readonly ledger: SessionLedger | undefined;
  /** Keeps that the message is processed; whether that is durable. */
  done(): Promise<boolean>;
}
