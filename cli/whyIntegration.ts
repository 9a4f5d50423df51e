import { breakerRuleNote } from '../src/policy/face.ts';
import { type LiveStatus, readStatusAnswer } from '../src/control/face.ts';
import { dbWords, formatDuration, optionWords } from '../src/policy/text/face.ts';
import { reportLines } from '../src/policy/records/face.ts';
import { type AskedRuntime, askRuntimes } from '../operator/askRuntimes.ts';
import { integrationOfRun } from '../src/runtime/face.ts';
import { type IntegrationView, shownViewOf } from '../operator/integrationView.ts';
import type { RuntimeRow } from '../src/store/face.ts';
import { type ShownName, withShownNames } from '../src/redaction/face.ts';
import { raisedRecords, type Standing, standingOf, standingOfUnwatched, watchesOf } from './alertStanding.ts';
import { type Matter, matterOfDead, mattersOf } from './attention.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { withNotes } from '../operator/alertNotes.ts';
import { judgedOutside } from '../operator/judgedOutside.ts';
import { withLastWords } from './lookAround.ts';
import { nextTryOf } from '../operator/nextTry.ts';
import { sanitize } from './sanitize.ts';
import { ago, counted, wrapLines } from './text.ts';

const dayMs = 24 * 60 * 60_000;

/** An integration with its alert, as text of a few lines. */
interface IntegrationWhy extends IntegrationView {
  /** That is open, or nobody watches. */
  readonly alert?: (Standing & { readonly integration: string; readonly raisedAt?: number }) | undefined;
}

/**
 * The integration of this name, as the records and the running gateways show it, undefined where there is none; what needs attention of it, and
 * the names of all. All of it is under names without secrets.
 * @param name - as it is shown.
 */
export async function integrationOf(
  name: string,
  db: string | undefined,
  rows: readonly RuntimeRow[],
  io: Io,
  shown: ShownName,
): Promise<{
  readonly found: IntegrationWhy | undefined;
  readonly matters: readonly Matter[];
  readonly names: readonly string[];
}> {
  const now = io.now();
  const { recorded, figures, alerts, raised } = await readDatabase(db, io, async (reader) => ({
    recorded: await withLastWords(reader, (await reader.status(now)).integrations),
    figures: await reader.statistics(now - dayMs, 'whole'),
    alerts: withShownNames(await withNotes(reader, await reader.alerts(now), now, shown), shown),
    raised: await raisedRecords(reader, (await reader.alerts(now)).open),
  }));
  const asked = withShownNames(await askRuntimes(rows, io, 'status', readStatusAnswer), shown);
  const outside = judgedOutside(alerts.unwatched, recorded, asked, shown);
  const views = shownViewOf(recorded, asked, reportLines(figures), shown);
  const view = views.find(({ integration }) => integration === name);
  const open = alerts.open.find(({ integration }) => integration === name);
  const unwatched = outside.find(({ integration }) => integration === name);
  const alert =
    open === undefined
      ? unwatched && { ...unwatched, ...standingOfUnwatched(unwatched, db) }
      : { ...open, ...standingOf(open, { raised, watches: await watchesOf(rows, io), now }, db) };
  const found = view && { ...view, ...(alert !== undefined && { alert }) };
  const matters = [...matterOfDead(lostOf(name, asked), undefined, now), ...mattersOfView(view, now, db)];
  return { found, matters, names: views.map(({ integration }) => integration) };
}

/** Lists what needs attention of the integration of this name that a live runtime has; none where it has none. */
export async function liveMatters(
  name: string,
  row: RuntimeRow,
  db: string | undefined,
  io: Io,
  shown: ShownName,
): Promise<readonly Matter[]> {
  const views = shownViewOf([], await askRuntimes([row], io, 'status', readStatusAnswer), [], shown);
  const view = views.find(({ integration }) => integration === name);
  return mattersOfView(view, io.now(), db);
}

function mattersOfView(view: IntegrationView | undefined, now: number, db: string | undefined): readonly Matter[] {
  if (view === undefined) return [];
  const others = { alerts: { open: [], unwatched: [] }, sessions: [], stuck: [], letters: [], runtimes: [] };
  return mattersOf({ ...others, integrations: [view] }, now, db);
}

/** Finds the runtimes that are gone and had this integration, with the calls of it that they had under way; and all that are there. */
function lostOf(name: string, asked: readonly AskedRuntime<LiveStatus>[]): readonly AskedRuntime<LiveStatus>[] {
  return asked.flatMap((each) => {
    const { runtime } = each;
    if (runtime.liveness !== 'dead') return [each];
    const calls = (runtime.calls ?? []).filter(({ integration }) => integration === name);
    const isOwn = runtime.name === `unwedge mcp ${name}` || integrationOfRun(runtime.name) === name;
    return isOwn || calls.length > 0 ? [{ ...each, runtime: { ...runtime, calls } }] : [];
  });
}

/** Describes an integration, for those who asked for the wait of a session. @param db - what `--db` was given. */
export function integrationWhy(view: IntegrationWhy, db: string | undefined, io: Io): string {
  const { integration, live, lastError, alert, failures10m, failures24h, crashes24h, calls24h } = view;
  const [now, own] = [io.now(), io.own ?? 'unwedge'];
  const name = sanitize(integration);
  const kind = lastError?.kind === undefined ? '' : `${sanitize(lastError.kind)}: `;
  const last =
    lastError === undefined
      ? 'no failure is on record'
      : `its last failure, ${ago(lastError.at, now)}: ${kind}${sanitize(lastError.error)}`;
  const runs =
    live.length === 0
      ? 'no running gateway or proxy has it'
      : `it has ${counted(
          live.reduce((sum, each) => sum + each.inFlight, 0),
          'call',
        )} in flight`;
  return wrapLines(
    [
      `${name} is an integration, no session. What is known of it:`,
      `  ${circuitText(view, now)}; ${runs}`,
      `  ${last}`,
      `  of the last 24h: ${counted(calls24h ?? 0, 'call')}, ${counted(failures24h, 'failure')} (${failures10m} within 10m), ${counted(crashes24h, 'crash', 'crashes')}`,
      alert === undefined
        ? '  no alert of it is open'
        : `  its alert: ${alert.raisedAt === undefined ? 'nobody watches it' : `raised ${ago(alert.raisedAt, now)}`}; clears ${alert.clears}`,
      `See \`${own} status${dbWords(db)}\` and \`${own} events${optionWords('integration', integration)}${dbWords(db)}\`.`,
    ],
    io.columns,
  );
}

function circuitText(view: IntegrationView, now: number): string {
  const { circuit, live, breaker } = view;
  if (circuit === 'crashed') return 'its server is down';
  const was = live.length === 0 ? 'its circuit was last' : 'its circuit is';
  const { inMs, isAsked } = nextTryOf(view, now);
  const rule = circuit === 'open' || circuit === 'half-open' ? breakerRuleNote(breaker?.cause?.rule) : '';
  const asked = isAsked ? `; its server asked not to be called for ${formatDuration(inMs)} more` : '';
  const probe = circuit === 'open' && !isAsked && inMs > 0 ? `, probe in ${formatDuration(inMs)}` : '';
  return `${was} ${circuit}${rule}${probe}${asked}`;
}
