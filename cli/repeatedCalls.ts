import { limitIn, type Metric, type Per } from '../src/policy/face.ts';
import { amountText, limitWords } from '../src/policy/text/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import type { EventRow } from '../src/store/face.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './text.ts';

/** Newest events that are looked at, of sessions that spin and of budgets each. */
const mostLooked = 2000;
/** Lines of each for people; the largest stand first. */
const mostLines = 5;

/** Repetitions of a tool by one session, or client. */
export interface RepeatedCalls {
  readonly session: string;
  readonly integration?: string | undefined;
  readonly tool: string;
  /** Last step that was taken against it, and how often it had been called by then. */
  readonly step: string;
  readonly count: number;
  readonly message: string;
  /** Wall time in ms since the epoch. */
  readonly at: number;
}

/** A limit, as far as it was used when its budget was last told of: at 80 %, at 100 %, when it was raised. */
export interface UsedLimit {
  readonly name: string;
  readonly per: Per;
  readonly metric: Metric;
  readonly most: number;
  readonly isRun: boolean;
  readonly used: number;
  readonly at: number;
}

/** Repetition and budgets since then, as events tell of them. @param since - wall time in ms since the epoch. @param shown - names as they may be shown. */
export async function readRepeated(reader: StoreReader, since: number, shown: (name: string) => string) {
  const eventsOf = (category: string, text: string) => reader.events({ category, text, since, limit: mostLooked });
  const repeated = new Map<string, RepeatedCalls>();
  for (const { type, at, metadata } of await eventsOf('session', 'spinning')) {
    const { session, integration, tool, step, count, message } = metadata as unknown as RepeatedCalls;
    if (type !== 'spinning' || typeof count !== 'number') continue;
    const named = { session: shown(session), ...(integration !== undefined && { integration: shown(integration) }) };
    const key = JSON.stringify([session, tool]);
    // A count of it that begins anew is another time that it spun.
    if (count >= (repeated.get(key)?.count ?? 0)) repeated.set(key, { ...named, tool, step, count, message, at });
  }
  const limits = (await eventsOf('budget', '')).flatMap((row) => limitOf(row, shown) ?? []);
  // The last word on each of them.
  const budgets = new Map(limits.map((one) => [JSON.stringify([one.name, one.per, one.metric]), one]));
  return {
    repeated: [...repeated.values()].toSorted((one, other) => other.count - one.count),
    budgets: [...budgets.values()].toSorted((one, other) => other.used / other.most - one.used / one.most),
  };
}

function limitOf({ at, metadata }: EventRow, shown: (name: string) => string): UsedLimit | undefined {
  const { scope, per, metric, most, used } = metadata;
  const limit = limitIn(`${String(metric)}=${Number(most)}/${String(per)}`);
  if (typeof scope !== 'string' || limit?.per === undefined || typeof used !== 'number') return undefined;
  const [kind = ''] = scope.split(':', 1);
  return { name: shown(scope.slice(kind.length + 1)), isRun: kind === 'run', ...limit, per: limit.per, used, at };
}

type Repeated = Awaited<ReturnType<typeof readRepeated>>;

/** Says so, a line each: `main: files edit was called 20 times …; end 5m ago`. */
export function repeatedLines({ repeated, budgets }: Repeated, now: number): readonly string[] {
  const more = (all: readonly unknown[], what: string): readonly string[] =>
    all.length > mostLines ? [`${all.length - mostLines} more ${what}: --json has them.`] : [];
  return [
    ...repeated
      .slice(0, mostLines)
      .map(({ session, step, message, at }) => `${sanitize(session)}: ${sanitize(message)}; ${step} ${ago(at, now)}`),
    ...more(repeated, 'repeat calls'),
    ...budgets.slice(0, mostLines).map((one) => {
      const scope = one.isRun ? 'run:' : '';
      return `${sanitize(one.name)}: used ${amountText(one.used)} of ${limitWords({ ...one, scope })} ${ago(one.at, now)}`;
    }),
    ...more(budgets, 'budgets were used to 80 % and more'),
  ];
}
