import { formatDuration, formatSeconds } from '../src/policy/text/face.ts';
import { breakerRuleText, readBreakerRule } from '../src/policy/face.ts';
import { risks } from '../src/policy/failures/face.ts';
import type { EventRow } from '../src/store/face.ts';
import { counted } from './text.ts';

type Metadata = EventRow['metadata'];

/** Sentence of an event in words. */
interface Said {
  /** Event that happened. */
  readonly what: unknown;
  /** Details that are known of it. */
  readonly about: readonly (string | undefined)[];
  /** The fields that are said with that, or by it. */
  readonly uses: readonly string[];
}

/** Fields that say for a person nothing that is not there already; `--json` has them. */
const unsaid = ['stack', 'input', 'runtime_pid'];

/**
 * An event as a person reads it: what happened, then what is known of it. The commonest of a bad night are sentences; what a sentence leaves over, and
 * all of other events, follows as `name=value`. Ids are whole, so that they can be given to a command.
 */
export function eventSentence({ category, type, metadata }: Pick<EventRow, 'category' | 'type' | 'metadata'>): string {
  const { what, about, uses } = (sentences[`${category}/${type}`] ?? plain)(metadata);
  const said = new Set([...unsaid, ...uses]);
  const fields = Object.entries(metadata)
    .filter(([name, value]) => !said.has(name) && value !== null && value !== undefined && typeof value !== 'object')
    // That of an isolation, which ends by no time.
    .filter(([name, value]) => !(name.endsWith('_ms') && String(value) === 'Infinity'))
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(' ');
  const known = [...about, fields].filter((each) => each !== undefined && each !== '').join('; ');
  if (typeof what !== 'string' || what === '') return known;
  return known === '' ? what : `${shortened(what, known)} (${known})`;
}

/** A message beside what is known; longer ones leave no room for the ids that other commands take. In characters. */
const longMessage = 240;
/** Characters that a narrow table has room for. */
const longSentence = 400;

function shortened(message: string, known: string): string {
  const fits = message.length <= longMessage || message.length + known.length <= longSentence;
  return fits ? message : `${message.slice(0, longMessage - 1).trimEnd()}…`;
}

function plain({ error, message, rule }: Metadata): Said {
  const known = readBreakerRule(rule);
  const about = [known && breakerRuleText(known)];
  return typeof error === 'string'
    ? { what: error, about, uses: ['error', 'rule'] }
    : { what: message, about, uses: ['message', 'rule'] };
}

const sentences: Readonly<Record<string, (metadata: Metadata) => Said>> = {
  'integration/failure': (metadata) => ({
    what: metadata['error'],
    about: [
      failureText(metadata),
      ...idsIn(metadata),
      outcomeText(metadata['outcome'], metadata['effect']),
      againText(metadata['retryable'], metadata['retry_after_ms']),
      metadata['alerts'] === false ? 'counts towards no alert' : undefined,
    ],
    uses: failureFields,
  }),
  'integration/refused': (metadata) => ({
    what: metadata['error'],
    about: [
      `refused: ${String(metadata['kind'])}`,
      ...idsIn(metadata),
      againText(metadata['retryable'] ?? true, metadata['retry_after_ms']),
      Number(metadata['refused']) > 0
        ? `${counted(Number(metadata['refused']), 'refusal')} before it not told`
        : undefined,
    ],
    uses: ['error', 'kind', 'retryable', 'retry_after_ms', 'refused', ...idFields],
  }),
  'integration/restarted': ({ down_ms: downMs }) => ({
    what: `is back after ${timeText(downMs)}`,
    about: [],
    uses: ['down_ms'],
  }),
  'alert/raised': ({ error, alert, because, failures, crashes, kind, window_ms: windowMs }) => ({
    what: error,
    about: [
      because !== 'failures' && because !== 'crashes' ? undefined : `last: ${String(kind)}`,
      `${countsText(failures, crashes)} within ${timeText(windowMs)}`,
      `alert ${String(alert)}`,
    ],
    uses: ['error', 'alert', 'because', 'failures', 'crashes', 'kind', 'window_ms'],
  }),
  'alert/cleared': ({ alert, by, failures, crashes, after_ms: afterMs }) => ({
    what: `is over after ${timeText(afterMs)}: ${ends[String(by)] ?? String(by)}`,
    about: [`${countsText(failures, crashes)} in all`, `alert ${String(alert)}`],
    uses: ['alert', 'by', 'failures', 'crashes', 'after_ms'],
  }),
};

/** By which other commands find what the event is of. */
const idFields = ['tool', 'session', 'call'];

const failureFields = [
  ...['type', 'error', 'kind', 'reason', 'met_kind', 'met_error', 'outcome', 'effect', 'retryable', 'alerts'],
  ...['retry_count', 'elapsed_ms', 'retry_after_ms', ...idFields],
];

function idsIn(metadata: Metadata): readonly string[] {
  return idFields.flatMap((name) => {
    const id = metadata[name];
    return typeof id === 'string' ? [`${name} ${id}`] : [];
  });
}

/** Returns the risk of a harmless effect, as the caller was told, whatever became of it. */
function outcomeText(outcome: unknown, effect: unknown): string | undefined {
  if (outcome === 'unknown' && (effect === 'readOnly' || effect === 'idempotent')) return risks[effect];
  return outcomes[String(outcome)];
}

const outcomes: Readonly<Record<string, string>> = {
  not_started: 'nothing was sent',
  unknown: 'it may have taken effect',
  done: 'it took effect',
  not_done: 'it did not take effect',
};

const ends: Readonly<Record<string, string>> = {
  quiet: 'it has been quiet',
  closed: 'the circuit closed',
  recovered: 'the success rate recovered',
};

function failureText({ kind, reason, met_kind: met, retry_count: retries, elapsed_ms: elapsedMs }: Metadata): string {
  const what = [kind, reason].filter((each) => typeof each === 'string').join(', ');
  const last = typeof met === 'string' ? `, its last attempt ${met}` : '';
  const again = Number(retries) > 0 ? ` after ${counted(Number(retries), 'retry', 'retries')}` : '';
  return `${what}${last}${again}${typeof elapsedMs === 'number' ? ` in ${timeText(elapsedMs)}` : ''}`.trim();
}

function againText(retryable: unknown, retryAfterMs: unknown): string | undefined {
  if (typeof retryable !== 'boolean') return undefined;
  if (!retryable) return 'not to be tried again as it is';
  return `may be tried again${typeof retryAfterMs === 'number' ? ` in ${waitText(retryAfterMs)}` : ''}`;
}

function countsText(failures: unknown, crashes: unknown): string {
  const some = [
    ...(Number(crashes) > 0 && Number(failures) === 0 ? [] : [counted(Number(failures), 'failure')]),
    ...(Number(crashes) > 0 ? [counted(Number(crashes), 'crash', 'crashes')] : []),
  ];
  return some.join(' and ');
}

/** Formats the time that something took. */
function timeText(ms: unknown): string {
  return formatDuration(Number(ms));
}

/** A time to wait, in whole seconds from one on, begun ones as whole: who waits so long does not come too early. */
function waitText(ms: unknown): string {
  const given = Number(ms);
  return given < 1000 ? formatDuration(Math.ceil(given)) : formatSeconds(given);
}
