import { type LiveStatus, readStatusAnswer } from '../control/answers.ts';
import { reportLines } from '../policy/callReport.ts';
import { type AskedRuntime, askRuntimes } from '../runtime/askRuntimes.ts';
import { type IntegrationView, shownViewOf } from '../runtime/integrationView.ts';
import { type NotedAlerts } from '../store/alertNote.ts';
import { withNotes } from '../runtime/alertNotes.ts';
import { judgedOutside } from '../runtime/judgedOutside.ts';
import { withLastSigns } from '../runtime/lastSigns.ts';
import { runtimesOf } from '../runtime/unlisted.ts';
import { createShownNames, type ShownName, withShownNames } from '../store/shownNames.ts';
import type { StoreReader, StoreStatus } from '../store/storeReader.ts';
import type { Watched } from './attention.ts';
import { readDatabase } from './database.ts';
import { type SessionStanding, withRecoveries } from './failedTurns.ts';
import type { Io } from './io.ts';
import { withLastWords } from './lastWordsOfServers.ts';
import { recordedSessions, recordedText, stuckSessions, type TextOfWhy } from './stuckSessions.ts';

const dayMs = 24 * 60 * 60_000;

/** What a database and its gateways say now. */
export interface StatusView extends Omit<StoreStatus, 'integrations' | 'sessions' | 'alerts'> {
  readonly database: string;
  readonly integrations: readonly IntegrationView[];
  readonly sessions: readonly SessionStanding[];
  /** Open, or as good as. */
  readonly alerts: NotedAlerts;
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
  const { rows, figures, letters, recorded, ...found } = await readDatabase(db, io, async (reader) => ({
    database: reader.path,
    rows: await withLastSigns(await runtimesOf(reader, now), reader),
    figures: await reader.statistics(now - dayMs, 'whole'),
    letters: await reader.deadLetters(),
    recorded: await recordedSessions(reader),
    ...(await statusOf(reader, now, shown)),
  }));
  const answers = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = new Set(answers.flatMap(({ answer }) => (answer?.sessions ?? []).map(({ session }) => session)));
  const records = withShownNames(
    recorded.records.filter(({ session }) => !live.has(session)),
    shown,
  );
  const moreWaiting = recorded.others.filter((session) => !live.has(session)).length;
  const waits = [
    ...(await stuckSessions(answers, textOf)),
    ...records.map((each) => ({ session: each.session, what: recordedText(each, now) })),
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
  return {
    now,
    view,
    asked: runtimes,
    watched: { ...view, stuck, letters: shownLetters, runtimes, records, moreWaiting },
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
