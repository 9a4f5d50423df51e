import { type LiveStatus, readStatusAnswer } from '../control/answers.ts';
import { reportLines } from '../policy/callReport.ts';
import { type AskedRuntime, askRuntimes } from '../runtime/askRuntimes.ts';
import { type IntegrationView, viewOf } from '../runtime/integrationView.ts';
import { withLastSigns } from '../runtime/lastSigns.ts';
import { runtimesOf } from '../runtime/unlisted.ts';
import { createShownNames, withShownNames } from '../store/shownNames.ts';
import type { DeadLetterRecord, SessionRecords, StoreReader, StoreStatus } from '../store/storeReader.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { withLastWords } from './lastWordsOfServers.ts';
import { recordedSessions, recordedText, type StuckSession, stuckSessions, type TextOfWhy } from './stuckSessions.ts';

const dayMs = 24 * 60 * 60_000;

/** What the records and the live runtimes of a database say together, under names without secrets. */
export interface SeenStatus {
  readonly view: Omit<StoreStatus, 'integrations'> & {
    readonly database: string;
    readonly integrations: readonly IntegrationView[];
    /** Sessions that wait, live ones first. */
    readonly stuck: readonly StuckSession[];
  };
  readonly letters: readonly DeadLetterRecord[];
  readonly asked: readonly AskedRuntime<LiveStatus>[];
  /** Sessions with something that waits on record, and without a live runtime. */
  readonly waiting: readonly SessionRecords[];
}

/** @param textOf - which live sessions are told as stuck, and how. @defaultValue those in trouble */
export async function seeStatus(db: string | undefined, io: Io, textOf?: TextOfWhy): Promise<SeenStatus> {
  const now = io.now();
  const { rows, figures, letters, recorded, ...found } = await readDatabase(db, io, async (reader) => ({
    database: reader.path,
    rows: await withLastSigns(await runtimesOf(reader, now), reader),
    figures: await reader.statistics(now - dayMs, 'whole'),
    letters: await reader.deadLetters(),
    recorded: await recordedSessions(reader),
    ...(await statusOf(reader, now)),
  }));
  const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = new Set(asked.flatMap(({ answer }) => (answer?.sessions ?? []).map(({ session }) => session)));
  const shown = createShownNames();
  const waiting = withShownNames(
    recorded.filter(({ session }) => !live.has(session)),
    shown,
  );
  const stuck = [
    ...(await stuckSessions(asked, textOf)),
    ...waiting.map((each) => ({ session: each.session, what: recordedText(each, now) })),
  ];
  const integrations = viewOf(found.integrations, asked, reportLines(figures));
  // Last: names that are put together must still be the same on both sides.
  const names = withShownNames({ ...found, integrations, stuck, letters, runtimes: asked }, shown);
  const { letters: shownLetters, runtimes, ...view } = names;
  return { view, letters: shownLetters, asked: runtimes, waiting };
}

async function statusOf(reader: StoreReader, now: number): Promise<StoreStatus> {
  const found = await reader.status(now);
  return { ...found, integrations: await withLastWords(reader, found.integrations) };
}
