import { checkInteger } from '../../src/policy/options.ts';
import { fromJson } from '../../src/store/json.ts';
import { callRecordIn, type ShownResult, turnIn } from '../../src/store/recordRows.ts';
import type { CallRecord, TurnRecord } from '../../src/store/storeReader.ts';
import type { PgRow } from '../pgDriver.ts';
import type { Ask } from './pgReads.ts';

/** Texts of more bytes are not sent: what is shown of them is at their beginning and at their end. */
const mostBytes = 65_536;
const endChars = 300;

/** SQL for a text of JSON, of a long one both ends. The server itself reads no JSON that holds `\\u0000`. */
const shortened = (column: string): string =>
  `CASE WHEN octet_length(${column}) <= ${mostBytes} THEN ${column}
     ELSE left(${column}, ${endChars}) || right(${column}, ${endChars}) END`;

const lastTurns = `
  SELECT number, mail, ${shortened('body')} AS body, state, deliveries, posted_at, turn, taken_at, ended_at, error
  FROM uw.message WHERE session = $1 AND turn IS NOT NULL ORDER BY turn DESC LIMIT $2`;

const callsOfTurns = `
  SELECT t.turn, c.* FROM unnest($2::bigint[]) AS t (turn) CROSS JOIN LATERAL (
    SELECT id, integration, tool, started_at, settled_at, late_at, ${shortened('result')} AS result, seq
    FROM uw.call WHERE session = $1 AND turn = t.turn ORDER BY seq LIMIT 100) c
  ORDER BY t.turn, c.seq`;

/** The last turns of a session, newest first. @throws what the server says. */
export async function readPgTurns(ask: Ask, session: string, limit: number): Promise<readonly TurnRecord[]> {
  checkInteger('limit', limit);
  const turns = await ask(lastTurns, [session, limit]);
  const calls = new Map<number, CallRecord[]>();
  for (const row of await ask(callsOfTurns, [session, turns.map(({ turn }) => turn)])) {
    const turn = Number(row['turn']);
    const list = calls.get(turn) ?? [];
    calls.set(turn, list);
    list.push(callRecordIn(row, resultIn(row)));
  }
  return turns.map((row) => turnIn(session, row, kindIn(row), calls.get(Number(row['turn'])) ?? []));
}

function kindIn({ body }: PgRow): string | undefined {
  const whole = fromJson(body);
  const kind =
    whole === undefined
      ? /^\{"kind":"([^"\\]+)"/.exec(String(body))?.[1]
      : (whole.value as { readonly kind?: unknown } | null)?.kind;
  return typeof kind === 'string' ? kind : undefined;
}

function resultIn({ result }: PgRow): ShownResult {
  if (result === null || result === undefined) return {};
  const whole = fromJson(result)?.value as (ShownResult & { readonly retries?: unknown }) | null | undefined;
  if (whole !== undefined && whole !== null) {
    const { status, synthetic, attempts, retries } = whole;
    return { status, synthetic, attempts: attempts ?? (typeof retries === 'number' ? retries + 1 : undefined) };
  }
  const text = String(result);
  const retries = /"retries":(\d+)(?!.*"retries":)/s.exec(text)?.[1];
  return {
    status: /^\{"status":"(\w+)"/.exec(text)?.[1],
    attempts: retries === undefined ? undefined : Number(retries) + 1,
  };
}
