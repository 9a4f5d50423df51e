import { readMessage, readString } from './errorChain.ts';
import type { EffectOutcome, FailureKind } from './failure.ts';
import type { Finding } from './finding.ts';

/** The first word of an error that Redis answers with. */
const words: readonly (readonly [word: RegExp, kind: FailureKind, outcome: EffectOutcome])[] = [
  [/^(?:NOAUTH|WRONGPASS|NOPERM|DENIED)$/, 'auth', 'failed'],
  [/^(?:LOADING|BUSY|TRYAGAIN|MASTERDOWN|CLUSTERDOWN|READONLY|NOREPLICAS|MISCONF)$/, 'transient', 'failed'],
  [/^OOM$/, 'overloaded', 'failed'],
  [/^UNBLOCKED$/, 'transient', 'unknown'],
];

/** Tells what an error that Redis answered with means: it refused the command before it did anything. */
export function byRedis(error: unknown): Finding | undefined {
  const name = readString(error, 'name');
  if (name !== 'ReplyError' && name !== 'SimpleError' && name !== 'ErrorReply') return undefined;
  const message = readMessage(error);
  const word = /^-?([A-Z]{2,})\b/.exec(message)?.[1];
  if (word === undefined) return undefined;
  if (/^-?ERR max number of clients/.test(message)) return { kind: 'transient', outcome: 'not_started', code: word };
  const [, kind, outcome] = words.find(([pattern]) => pattern.test(word)) ?? [/x/, 'permanent', 'failed'];
  return { kind, outcome, code: word };
}
