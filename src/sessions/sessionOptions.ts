import {
  boolean,
  callback,
  choice,
  duration,
  integer,
  type Given,
  section,
  type Tell,
  type Values,
} from '../policy/options/optionKeys.ts';
import { spinningChoices } from '../policy/spinning/spinningRule.ts';
import { durationText } from '../policy/text/duration.ts';
import { sessionBudgetKey } from '../policy/budget.ts';
import { readGiven, readOptions } from '../policy/options/readOptions.ts';
import { mailboxKeys, type MailboxOptions, type Message } from './mailbox.ts';
import type { Turn } from './turn.ts';

/** Processes one message of a session. What it returns is the turn's value; a throw ends the turn, not the session. */
export type MessageHandler<Result = unknown> = (message: Message, turn: Turn) => Result | PromiseLike<Result>;

const watchdogKeys = {
  /** A tool call pending longer than this in all, in ms above 0, is cancelled and answered by a synthetic error result. @defaultValue 300000 */
  toolCallMs: duration({
    default: 300_000,
    help: 'A tool call pending longer is cancelled and answered by a synthetic error result.',
  }),
  /** A turn without progress for this long outside any tool call, in ms above 0, is aborted. @defaultValue 600000 */
  turnMs: duration({
    default: 600_000,
    help: 'A turn without progress for so long outside any tool call is aborted.',
  }),
  /** Time that an aborted turn may take to end before it is left behind, in ms above 0. @defaultValue 5000 */
  releaseMs: duration({
    default: 5_000,
    help: 'How long an aborted turn may take to end before it is left behind.',
  }),
  /** Time that a recovery may take before the session's actor is restarted, in ms; above `releaseMs`. @defaultValue 30000 */
  recoveryMs: duration({
    default: 30_000,
    help: "How long a recovery may take before the session's actor is restarted; above `releaseMs`.",
  }),
};

/** Limits of the session's watchdog, in ms. */
export interface WatchdogOptions extends Given<typeof watchdogKeys> {}

/** Number of times a message is begun without an end before it is a dead letter, where nothing else is set. */
export const defaultMaxDeliveries = 3;

const recoveryKeys = {
  /** A message that was begun this often without an end, because its gateway died each time, becomes a dead letter. At least 1. @defaultValue 3 */
  maxDeliveries: integer({
    default: defaultMaxDeliveries,
    help: 'A message begun so often without an end becomes a dead letter.',
  }),
  /** A message that was accepted longer ago becomes a dead letter, in ms above 0. @defaultValue 86400000, a day */
  maxAgeMs: duration({ default: 86_400_000, help: 'A message accepted longer ago becomes a dead letter.' }),
};

/** Part of an earlier run of the gateway that is taken up. */
export interface RecoveryOptions extends Given<typeof recoveryKeys> {}

/** Keys that a session may be given, and all sessions of a gateway at once. */
export const sharedSessionKeys = {
  /**
   * Entries of the history kept in memory and in the store as a turn begins, at least 1: the oldest turns go, whole. The entries of the turn come on top.
   * @defaultValue 10000
   */
  historyLimit: integer({ default: 10_000, help: 'Entries of the history kept.' }),
  /** Limits on the messages that wait. @defaultValue 1000 */
  mailbox: section(mailboxKeys, { given: {} as MailboxOptions, default: {}, help: 'What may wait.' }),
  /**
   * A session in which nothing happens for so long is let go, in ms above 0: it takes no memory then, and goes on with what is kept of it when it is named
   * again. @defaultValue none is
   */
  idleCloseMs: duration({
    help: 'An idle session is let go after so long, and goes on when it is named again.',
    usually: 'never',
  }),
  /** Limits on tool calls and turns. @defaultValue 5 min for a tool call, 10 min for a turn without progress */
  watchdog: section(
    watchdogKeys,
    { given: {} as WatchdogOptions, default: {}, help: "Limits of a session's watchdog." },
    watchdogRule,
  ),
  /** How far repetition of tool calls without progress leads. @defaultValue `tell`, and 20 equal failures within a message end its turn */
  spinning: choice(spinningChoices, {
    usually: '`tell`, and 20 equal failures end the turn',
    help: 'How far repetition of tool calls without progress leads.',
  }),
  /** Part of an earlier run that is taken up. @defaultValue messages of the last day, each begun at most 3 times */
  recovery: section(recoveryKeys, {
    given: {} as RecoveryOptions,
    default: {},
    help: 'What of an earlier run is taken up.',
  }),
  /** What each session may spend: a tool call waits while a budget is spent, until it is raised or a new window begins. @defaultValue no limit */
  budget: sessionBudgetKey('What each session may spend; a tool call waits while a budget is spent.'),
};

const sessionKeys = {
  ...sharedSessionKeys,
  onMessage: callback<MessageHandler, { readonly required: true }>({ required: true }),
  /**
   * Keeps messages, tool calls and the history in the gateway's store, to be taken up after a restart. Messages and inputs must be JSON then.
   * @defaultValue true; without a file as its store a gateway keeps nothing
   */
  durable: boolean({ default: true }),
};

/** Options of a session: how it works, and what of it is kept. */
export interface SessionOptions<Result = unknown> extends Given<typeof sessionKeys> {
  /** Works on one message; the next one waits until it has ended. */
  readonly onMessage: MessageHandler<Result>;
}

/** {@link SessionOptions}, checked; limits in ms. */
export type CheckedSessionOptions = Values<typeof sessionKeys>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkSessionOptions(options: SessionOptions): CheckedSessionOptions {
  return readOptions('', options, sessionKeys);
}

function watchdogRule({ releaseMs, recoveryMs }: Values<typeof watchdogKeys>, tell: Tell): void {
  if (recoveryMs > releaseMs) return;
  tell('recoveryMs', { expected: `a duration above \`releaseMs\` (${durationText(releaseMs)})`, value: recoveryMs });
}

/** Options that may be given for all sessions of a gateway at once; what a session is given itself wins, figure by figure. */
export type SessionDefaults = Pick<
  SessionOptions,
  'mailbox' | 'idleCloseMs' | 'watchdog' | 'recovery' | 'historyLimit' | 'spinning' | 'budget'
>;

/** @throws TypeError or RangeError that names the option and its value. */
export function checkSessionDefaults(options: SessionDefaults = {}): SessionDefaults {
  return readGiven('sessions', options, sharedSessionKeys);
}

/** The options of a session, with the defaults where it says nothing; what is wrong in them is left for their check. */
export function withSessionDefaults(options: SessionOptions, defaults: SessionDefaults): SessionOptions {
  if (Object.keys(defaults).length === 0 || typeof options !== 'object' || options === null) return options;
  return {
    ...options,
    mailbox: overlaid(defaults.mailbox, options.mailbox),
    watchdog: overlaid(defaults.watchdog, options.watchdog),
    recovery: overlaid(defaults.recovery, options.recovery),
    budget: overlaid(defaults.budget, options.budget),
    spinning: options.spinning === undefined ? defaults.spinning : options.spinning,
    idleCloseMs: options.idleCloseMs ?? defaults.idleCloseMs,
    historyLimit: options.historyLimit === undefined ? defaults.historyLimit : options.historyLimit,
  };
}

function overlaid<T extends object>(under: T | undefined, over: T | undefined): T | undefined {
  if (under === undefined || over === undefined) return over === undefined ? under : over;
  if (typeof over !== 'object' || over === null) return over;
  return { ...under, ...Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined)) };
}
