import { type LiveStatus, readStatusAnswer } from '../src/control/face.ts';
import { reportLines } from '../src/policy/records/face.ts';
import { type AskedRuntime, askRuntimes, askSessions } from '../operator/askRuntimes.ts';
import { type IntegrationView, shownViewOf } from '../operator/integrationView.ts';
import type { NotedAlerts } from '../reader/alertNote.ts';
import { withNotes } from '../operator/alertNotes.ts';
import {
  askingHere,
  circuitsOf,
  gatewaysOf,
  healthOf,
  hurtSessions,
  isShut,
  type Need,
  needsOf,
} from '../operator/needs.ts';
import { judgedOutside } from '../operator/judgedOutside.ts';
import { runtimesOf, withLastSigns } from '../operator/unlisted.ts';
import { type ShownName, createShownNames, withShownNames } from '../src/redaction/face.ts';
import type { IntegrationStatus, LostLogRecord, StoreReader, StoreStatus } from '../reader/storeReader.ts';
import type { Watched } from './attention.ts';
import { readDatabase } from './database.ts';
import { type SessionStanding, withRecoveries } from './failedTurns.ts';
import type { Io } from './io.ts';
import { recentSpinners, recordedSessions, recordedText, stuckAmong, type TextOfWhy } from './stuckSessions.ts';
import { withLastLine } from '../src/policy/text/face.ts';

const dayMs = 24 * 60 * 60_000;

/** Present state of a database and its gateways. */
export interface StatusView extends Omit<StoreStatus, 'integrations' | 'sessions' | 'alerts'> {
  readonly database: string;
  readonly integrations: readonly IntegrationView[];
  readonly sessions: readonly SessionStanding[];
  /** Open, or as good as. */
  readonly alerts: NotedAlerts;
  /** A log of the database that was lost in the last 24 hours. */
  readonly lostLog?: LostLogRecord | undefined;
  /** As bad as the worst of `needs`. */
  readonly health: 'well' | Need['severity'];
  /** All that needs a person, the worst first. */
  readonly needs: readonly Need[];
}

/** The view, with all that may need somebody to look; under names without secrets. */
export interface Look {
  /** Wall time in ms since the epoch. */
  readonly now: number;
  readonly view: StatusView;
  readonly asked: readonly AskedRuntime<LiveStatus>[];
  readonly watched: Watched;
}

/**
 * Reads a database and asks its gateways, each up to 2 s.
 * @param db - as `--db` has it.
 * @param textOf - which live sessions are told as stuck, and how. @defaultValue those in trouble
 * @throws {@link CommandError} when the database is missing or cannot be read.
 */
export async function lookAround(
  db: string | undefined,
  io: Pick<Io, 'env' | 'now'>,
  textOf?: TextOfWhy,
): Promise<Look> {
  const now = io.now();
  const shown = createShownNames();
  const { rows, figures, letters, recorded, spun, asked, ...found } = await readDatabase(db, io, async (reader) => ({
    database: reader.path,
    rows: await withLastSigns(await runtimesOf(reader, now), reader),
    figures: await reader.statistics(now - dayMs, 'whole'),
    letters: await reader.deadLetters(),
    asked: (await reader.questions()).filter(({ deadlineAt }) => deadlineAt > now),
    recorded: await recordedSessions(reader),
    spun: await recentSpinners(reader, now),
    lostLog: await reader.lostLog(now - dayMs),
    ...(await statusOf(reader, now, shown)),
  }));
  const answers = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = new Set(answers.flatMap(({ answer }) => (answer?.sessions ?? []).map(({ session }) => session)));
  const records = withShownNames(
    recorded.records.filter(({ session }) => !live.has(session)),
    shown,
  );
  const busy = await askSessions(answers);
  const moreWaiting = recorded.others.filter((session) => !live.has(session)).length;
  const waits = [
    ...stuckAmong(busy, textOf),
    ...records.map((each) => ({ session: each.session, what: recordedText(each, now) })),
    ...spun,
  ];
  const integrations = shownViewOf(found.integrations, answers, reportLines(figures), shown);
  const unwatched = judgedOutside(found.alerts.unwatched, found.integrations, answers, shown);
  const data = {
    ...found,
    alerts: { ...found.alerts, unwatched },
    integrations,
    stuck: waits,
    letters,
    runtimes: answers,
  };
  // Last: names that are put together must still be the same on both sides.
  const { letters: shownLetters, runtimes, stuck, ...view } = withShownNames(data, shown);
  const circuits = circuitsOf(view.integrations, now);
  const whys = withShownNames(
    busy.flatMap(({ why }) => why ?? []),
    shown,
  );
  const hurt = circuits.some(isShut)
    ? await readDatabase(db, io, (reader) => hurtSessions(reader, circuits, whys, now))
    : new Map<string, readonly string[]>();
  const alerts = [
    ...view.alerts.open.map((each) => ({ ...each, isWatched: true })),
    ...view.alerts.unwatched.map((each) => ({ ...each, isWatched: false })),
  ];
  const needs = needsOf({
    ...{ now, ...gatewaysOf(runtimes), letters: shownLetters.length, circuits, alerts, hurt },
    ...{
      questions: [...withShownNames(asked, shown).map(({ session, asker }) => session ?? asker), ...askingHere(whys)],
      whys,
    },
  });
  return {
    now,
    view: { ...view, health: healthOf(needs), needs },
    asked: runtimes,
    watched: { ...view, needs, stuck, letters: shownLetters, runtimes, records, moreWaiting, questions: asked },
  };
}

async function statusOf(
  reader: StoreReader,
  now: number,
  shown: ShownName,
): Promise<Omit<StoreStatus, 'sessions' | 'alerts'> & Pick<StatusView, 'sessions' | 'alerts'>> {
  const found = await reader.status(now);
  return {
    ...found,
    alerts: await withNotes(reader, found.alerts, now, shown),
    integrations: await withLastWords(reader, found.integrations),
    sessions: await withRecoveries(reader, found.sessions),
  };
}

/** Integrations whose servers' last words are looked up. */
const mostLooked = 50;

/**
 * The integrations, and in the last error of each that is the end of its server the line of its stderr that says why: the record of a call holds what
 * became of the server alone.
 */
export async function withLastWords(
  reader: StoreReader,
  integrations: readonly IntegrationStatus[],
): Promise<readonly IntegrationStatus[]> {
  let looked = 0;
  const told: IntegrationStatus[] = [];
  for (const each of integrations) {
    const { integration, lastError, crashes24h } = each;
    // The last words of a server are no reason for the signal that ended it.
    const isByItself = lastError !== undefined && !lastError.error.includes(' was ended by ');
    if (!isByItself || crashes24h === 0 || looked++ >= mostLooked) {
      told.push(each);
      continue;
    }
    const query = { category: 'child', integration: `mcp:${integration}`, failed: true, limit: 1 };
    const [crash] = await reader.events(query);
    const words = crash?.metadata['error'];
    // Another end than that of the last error says nothing of it.
    const isIts = typeof words === 'string' && words.startsWith(`${lastError.error};`);
    told.push(isIts ? { ...each, lastError: { ...lastError, error: withLastLine(words) } } : each);
  }
  return told;
}
