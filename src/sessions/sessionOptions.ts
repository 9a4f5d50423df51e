import { checkBoolean, checkDuration, checkFunction, checkInteger, checkKeys } from '../policy/options.ts';
import type { MailboxOptions, Message } from './mailbox.ts';
import type { Turn } from './turn.ts';

/** Processes one message of a session. What it returns is the turn's value; a throw ends the turn, not the session. */
export type MessageHandler = (message: Message, turn: Turn) => unknown;

export interface SessionOptions {
  readonly onMessage: MessageHandler;
  readonly mailbox?: MailboxOptions | undefined;
  readonly watchdog?: WatchdogOptions | undefined;
  /** Entries of the history kept in memory and in the store, at least 1. @defaultValue 10000 */
  readonly historyLimit?: number | undefined;
  /**
   * Whether messages, tool calls and the history are kept in the gateway's store, to be taken up after a restart. Messages and
   * inputs must be JSON then. @defaultValue true; without a file as its store a gateway keeps nothing
   */
  readonly durable?: boolean | undefined;
  readonly recovery?: RecoveryOptions | undefined;
}

/** Limits of the session's watchdog, in ms. */
export interface WatchdogOptions {
  /** A tool call pending longer than this in all is cancelled and answered by a synthetic error result. @defaultValue 300000 */
  readonly toolCallMs?: number | undefined;
  /** A turn without progress for this long outside any tool call is aborted. @defaultValue 600000 */
  readonly turnMs?: number | undefined;
  /** How long an aborted turn may take to end before it is left behind. @defaultValue 5000 */
  readonly releaseMs?: number | undefined;
  /** How long a recovery may take before the session's actor is restarted; above `releaseMs`. @defaultValue 30000 */
  readonly recoveryMs?: number | undefined;
}

/** What of an earlier run of the gateway is taken up. */
export interface RecoveryOptions {
  /** A message that was begun this often without an end, because its gateway died each time, is put aside. At least 1. @defaultValue 3 */
  readonly maxDeliveries?: number | undefined;
  /** A message that was accepted longer ago is put aside, in ms. @defaultValue 86400000, a day */
  readonly maxAgeMs?: number | undefined;
}

export interface CheckedSessionOptions {
  readonly onMessage: MessageHandler;
  readonly watchdog: Required<{ [K in keyof WatchdogOptions]: number }>;
  readonly recovery: Required<{ [K in keyof RecoveryOptions]: number }>;
  readonly historyLimit: number;
  readonly durable: boolean;
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkSessionOptions(options: SessionOptions): CheckedSessionOptions {
  checkKeys('options', options, ['onMessage', 'mailbox', 'watchdog', 'historyLimit', 'durable', 'recovery']);
  checkFunction('onMessage', options.onMessage);
  return {
    onMessage: options.onMessage,
    watchdog: checkWatchdog(options.watchdog),
    recovery: checkRecovery(options.recovery),
    historyLimit: checkInteger('historyLimit', options.historyLimit ?? 10_000),
    durable: checkBoolean('durable', options.durable ?? true),
  };
}

/** @throws TypeError or RangeError that names the option, which is at `name`, and its value. */
export function checkRecovery(options: RecoveryOptions = {}, name = 'recovery'): CheckedSessionOptions['recovery'] {
  checkKeys(name, options, ['maxDeliveries', 'maxAgeMs']);
  return {
    maxDeliveries: checkInteger(`${name}.maxDeliveries`, options.maxDeliveries ?? 3),
    maxAgeMs: checkDuration(`${name}.maxAgeMs`, options.maxAgeMs ?? 86_400_000),
  };
}

/** @throws TypeError or RangeError that names the option, which is at `name`, and its value. */
export function checkWatchdog(options: WatchdogOptions = {}, name = 'watchdog'): CheckedSessionOptions['watchdog'] {
  checkKeys(name, options, ['toolCallMs', 'turnMs', 'releaseMs', 'recoveryMs']);
  const checked = {
    toolCallMs: checkDuration(`${name}.toolCallMs`, options.toolCallMs ?? 300_000),
    turnMs: checkDuration(`${name}.turnMs`, options.turnMs ?? 600_000),
    releaseMs: checkDuration(`${name}.releaseMs`, options.releaseMs ?? 5_000),
    recoveryMs: checkDuration(`${name}.recoveryMs`, options.recoveryMs ?? 30_000),
  };
  if (checked.recoveryMs <= checked.releaseMs) {
    throw new RangeError(
      `Expected \`${name}.recoveryMs\` to be above \`${name}.releaseMs\` (${checked.releaseMs}), got ${checked.recoveryMs}`,
    );
  }
  return checked;
}
