import { causeText, causeWithout, readBreakerCause } from '../src/policy/records/face.ts';
import { boundedJson } from '../src/policy/text/face.ts';
import { type Work, parseMetadata, statement, step } from '../src/store/face.ts';

/** Words in place of what an alert quoted. */
const inPlace = 'erased';

/** Failures of calls of a session, before they are erased, with the integration and the words. */
const failuresIn = (table: string) =>
  statement(
    `failures_in_${table.replace('.', '_')}`,
    'mark text',
    `SELECT {w.ord|1} AS ord, t.metadata FROM {w, |}${table} AS t
     WHERE t.category = 'integration' AND t.{type|event_type} = 'failure' AND {strpos|instr}(t.metadata, :mark) > 0`,
  );
/** Events of integrations that quote a failure, and name no session. */
const quotesIn = (table: string) =>
  statement(
    `quotes_in_${table.replace('.', '_')}`,
    'session text',
    `SELECT {w.ord|1} AS ord, t.category, t.metadata FROM {w, |}${table} AS t
     WHERE t.category IN ('alert', 'breaker') AND t.{type|event_type} IN ('raised', 'adopted')`,
  );
const eraseIn = (table: string) =>
  statement(
    `erase_quote_in_${table.replace('.', '_')}`,
    'category text, metadata text',
    `DELETE FROM ${table} AS t {USING w |}WHERE t.category = :category AND t.metadata = :metadata`,
  );
const causes = statement(
  'causes_of',
  'mark text',
  'SELECT {w.ord|1} AS ord, t.name, t.cause FROM {w, |}uw.breaker AS t WHERE {strpos|instr}(t.cause, :mark) > 0',
);
const setCause = statement(
  'set_cause',
  'name text, cause text',
  'UPDATE uw.breaker AS t SET cause = :cause {FROM w |}WHERE t.name = :name',
  { rank: 1 },
);
const alerts = statement(
  'words_of_alerts',
  'session text',
  'SELECT {w.ord|1} AS ord, t.id, t.integration, t.message FROM {w, |}uw.alert AS t',
);
const setWords = statement(
  'set_words',
  'id text, message text',
  'UPDATE uw.alert AS t SET message = :message {FROM w |}WHERE t.id = :id',
  { rank: 5 },
);

/** Where a store has its events: the table, and whether it is a store's own. */
export interface EventTable {
  readonly table: string;
  readonly isOurs: boolean;
}

/**
 * Takes the words of a session's failed calls, which are still on record, from what is of their integrations: causes of circuits, and alerts.
 * @returns how many quoted them.
 */
export function* forgetsWords(session: string, mark: string, { table, isOurs }: EventTable): Work<number> {
  const failures = (yield step(failuresIn(table), session, { mark })).map(({ metadata }) => parseMetadata(metadata));
  const isQuoted = (integration: unknown, text: unknown): boolean =>
    failures.some((failure) => failure['integration'] === integration && quotes(text, failure['error']));
  let quoted = 0;
  for (const { name, cause } of yield step(causes, session, { mark })) {
    const read = readBreakerCause(parseMetadata(cause));
    yield step(setCause, session, { name, cause: read && boundedJson({ ...causeWithout(read, session) }) });
    quoted++;
  }
  for (const { id, integration, message } of yield step(alerts, session, { session })) {
    if (!isQuoted(integration, message)) continue;
    yield step(setWords, session, { id, message: inPlace });
    quoted++;
  }
  for (const { category, metadata } of isOurs ? yield step(quotesIn(table), session, { session }) : []) {
    const { integration, error } = parseMetadata(metadata);
    if (!isQuoted(integration, error)) continue;
    yield step(eraseIn(table), session, { category, metadata });
    quoted++;
  }
  return quoted;
}

/** Tells whether a text holds the words of a failure, which are on one line there, and may be cut. */
function quotes(text: unknown, failure: unknown): boolean {
  const words = causeText(String(failure ?? '')).slice(0, fewChars);
  return words !== '' && String(text).replaceAll(/\s+/g, ' ').includes(words);
}

const fewChars = 100;
