import { readInteger, readMessage, readString } from './errorChain.ts';
import type { EffectOutcome, FailureKind, FailureReason } from './failure.ts';
import type { Finding } from './finding.ts';

type Row = readonly [states: RegExp, kind: FailureKind, outcome: EffectOutcome, reason?: FailureReason | undefined];

/** SQLSTATE by its class, most telling first: what one statement did wrong says nothing of the database. */
const states: readonly Row[] = [
  [/^(?:08001|08004|57P03)/, 'transient', 'not_started'],
  [/^08P01/, 'protocol', 'unknown'],
  [/^08|^57P0/, 'transient', 'unknown', 'connection_lost'],
  [/^28/, 'auth', 'failed'],
  [/^42501/, 'auth', 'failed'],
  [/^(?:42P01|42703|42883|3D000|3F000|42S02|42S22)/, 'permanent', 'failed', 'not_found'],
  // Rolled back as a whole: two transactions met.
  [/^40003/, 'unknown', 'unknown'],
  [/^(?:40|55P03|55006)/, 'transient', 'failed'],
  [/^53300/, 'transient', 'not_started'],
  [/^53/, 'overloaded', 'failed'],
  [/^57014|^HYT0|^S1T00/, 'timeout', 'unknown'],
  [/^(?:58|XX)/, 'transient', 'unknown'],
  [/^54/, 'permanent', 'failed', 'message_too_large'],
  [/^(?:0[A-Z]|2|3|4[24]|55|P0|HV|F0)/, 'permanent', 'failed'],
];

/** Two characters of a class, one of them a digit or a class of letters, and three of the case. */
const sqlState = /^(?:\d[0-9A-Z]|F0|HV|P0|XX|HY|S1)[0-9A-Z]{3}$/;

/** MySQL's own numbers where its SQLSTATE is the general HY000. */
const numbers: readonly (readonly [
  numbers: readonly number[],
  ...row: [FailureKind, EffectOutcome, (FailureReason | undefined)?],
])[] = [
  [[1040, 1203], 'transient', 'not_started'],
  // So many an hour.
  [[1226], 'rate_limit', 'failed'],
  [[1044, 1045, 1142, 1143, 1227, 1698], 'auth', 'failed'],
  [[1205, 1213, 3572], 'transient', 'failed'],
  [[1053, 2006, 2013], 'transient', 'unknown', 'connection_lost'],
  [[2002, 2003, 2005], 'transient', 'not_started'],
  [[3024, 1317], 'timeout', 'unknown'],
  [[1153], 'permanent', 'failed', 'message_too_large'],
  [[1049, 1051, 1054, 1146, 1305], 'permanent', 'failed', 'not_found'],
  [[1036, 1290], 'transient', 'failed'],
];

/** Tells what the error of a database means: the SQLSTATE in `sqlState`, `sqlstate` or `code`, or MySQL's number. */
export function byDatabase(error: unknown): Finding | undefined {
  const told = readString(error, 'sqlState') ?? readString(error, 'sqlstate') ?? readString(error, 'code');
  const name = readString(error, 'code') ?? told;
  const isMysql = /^(?:ER_|PROTOCOL_|CR_)/.test(name ?? '') || readString(error, 'sqlMessage') !== undefined;
  const number = isMysql ? readInteger(error, 'errno') : undefined;
  if (name === 'PROTOCOL_CONNECTION_LOST') {
    return { kind: 'transient', outcome: 'unknown', reason: 'connection_lost', code: name };
  }
  if (number !== undefined) {
    const [, ...row] = numbers.find(([all]) => all.includes(number)) ?? [];
    if (row[0] !== undefined) return finding([/x/, row[0], row[1] ?? 'unknown', row[2]], name ?? number);
  }
  const state = told !== undefined && sqlState.test(told) ? stateMeaning(told) : undefined;
  if (told === '57014' && /user request/.test(readMessage(error))) {
    return { kind: 'cancelled', outcome: 'cancelled', code: told };
  }
  if (state !== undefined) return { ...state, code: name ?? told };
  return /^ER_/.test(name ?? '') ? { kind: 'permanent', outcome: 'failed', code: name } : undefined;
}

/** Finds what a text means that names its SQLSTATE: `SQLSTATE[42S02]`, `(SQLSTATE 42P01)`, `SQLState: 08001`. */
export function sqlStateText(text: string): Finding | undefined {
  const [, state] = /\bSQLSTATE(?:\[| = |[:=] ?| )['"]?([0-9A-Z]{5})\b/i.exec(text) ?? [];
  if (state === undefined || !sqlState.test(state)) return undefined;
  // DB2 says so of every connection, also of one that broke while an answer was awaited.
  if (state === '08001') return { kind: 'transient', outcome: 'unknown', reason: 'connection_lost', code: state };
  return stateMeaning(state);
}

/** Tells what a SQLSTATE means. */
function stateMeaning(state: string): Finding | undefined {
  const row = states.find(([pattern]) => pattern.test(state));
  return row === undefined ? undefined : finding(row, state);
}

function finding([, kind, outcome, reason]: Row, code: string | number): Finding {
  return { kind, outcome, reason, code };
}
