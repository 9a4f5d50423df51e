import { causeText, causeWithout, readBreakerCause } from '../src/policy/records/face.ts';
import { boundedJson } from '../src/policy/text/face.ts';
import { type Work, parseMetadata, statement, step } from '../src/store/face.ts';

const columns = 'session text, mark text, name text, text text';
const made = (name: string, text: string, rank = 0) => statement(`words_${name}`, columns, text, { rank });
const select = (what: string, table: string) => `SELECT {w.ord|1} AS ord, ${what} FROM {w, |}${table} AS t`;
const failures = (table: string) =>
  made(
    'of_failures',
    `${select('t.metadata', table)} WHERE t.category = 'integration' AND t.{type|event_type} = 'failure'
     AND {strpos|instr}(t.metadata, :mark) > 0`,
  );
/** Events that quote a failure, and name no session. */
const quoting = (table: string) =>
  made(
    'in_events',
    `${select('t.category, t.metadata', table)} WHERE t.category IN ('alert', 'breaker')
     AND t.{type|event_type} IN ('raised', 'adopted')`,
  );
const erase = (table: string) =>
  made('gone', `DELETE FROM ${table} AS t {USING w |}WHERE t.category = :name AND t.metadata = :text`);
const causes = made('in_causes', `${select('t.name, t.cause', 'uw.breaker')} WHERE {strpos|instr}(t.cause, :mark) > 0`);
const setCause = made('of_cause', 'UPDATE uw.breaker AS t SET cause = :text {FROM w |}WHERE t.name = :name', 1);
const alerts = made('in_alerts', select('t.id, t.integration, t.message', 'uw.alert'));
const setAlert = made('of_alert', 'UPDATE uw.alert AS t SET message = :text {FROM w |}WHERE t.id = :name', 5);

/**
 * Takes the words of a session's failed calls, which are still on record, from what is of their integrations: causes of circuits, and alerts.
 * @param events - the table of events; one that is not a store's own is only read.
 * @returns how many quoted them.
 */
export function* forgetsWords(session: string, mark: string, events: string, isOurs: boolean): Work<number> {
  const at = { session, mark };
  const failed = (yield step(failures(events), session, at)).map(({ metadata }) => parseMetadata(metadata));
  const isQuoted = (integration: unknown, text: unknown): boolean =>
    failed.some((failure) => failure['integration'] === integration && quotes(text, failure['error']));
  let quoted = 0;
  for (const { name, cause } of yield step(causes, session, at)) {
    const read = readBreakerCause(parseMetadata(cause));
    yield step(setCause, session, { name, text: read && boundedJson({ ...causeWithout(read, session) }) });
    quoted++;
  }
  for (const { id: name, integration, message } of yield step(alerts, session, at)) {
    if (!isQuoted(integration, message)) continue;
    yield step(setAlert, session, { name, text: 'erased' });
    quoted++;
  }
  for (const { category: name, metadata: text } of isOurs ? yield step(quoting(events), session, at) : []) {
    const { integration, error } = parseMetadata(text);
    if (isQuoted(integration, error)) yield step(erase(events), session, { name, text });
  }
  return quoted;
}

/** Tells whether a text holds the words of a failure, which are on one line there, and may be cut. */
function quotes(text: unknown, failure: unknown): boolean {
  const words = typeof failure === 'string' ? causeText(failure).slice(0, 100) : '';
  return words !== '' && String(text).replaceAll(/\s+/g, ' ').includes(words);
}
