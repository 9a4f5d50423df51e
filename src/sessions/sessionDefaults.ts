import { readGiven } from '../policy/readOptions.ts';
import { type SessionOptions, sharedSessionKeys } from './sessionOptions.ts';

/** Options that may be given for all sessions of a gateway at once; what a session is given itself wins, figure by figure. */
export type SessionDefaults = Pick<SessionOptions, 'mailbox' | 'watchdog' | 'recovery' | 'historyLimit'>;

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
    historyLimit: options.historyLimit === undefined ? defaults.historyLimit : options.historyLimit,
  };
}

function overlaid<T extends object>(under: T | undefined, over: T | undefined): T | undefined {
  if (under === undefined || over === undefined) return over === undefined ? under : over;
  if (typeof over !== 'object' || over === null) return over;
  return { ...under, ...Object.fromEntries(Object.entries(over).filter(([, value]) => value !== undefined)) };
}
