import { type BreakerRule, breakerRuleNote, readBreakerRule } from '../src/policy/face.ts';
import {
  type Quantiles,
  type ReportEntry,
  type ReportLine,
  type ReportStep,
  rateText,
  reportOf,
  reportSpan,
} from '../src/policy/records/face.ts';
import { formatDuration, formatLatency, wrapWords } from '../src/policy/text/face.ts';
import { createShownNames, withShownNames } from '../src/redaction/face.ts';
import type { EventRow } from '../src/store/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import { defineCommand, duration, flag, text } from './command.ts';
import { readDatabase } from './database.ts';
import { UsageError } from './errors.ts';
import type { Io } from './io.ts';
import { knownIntegrations, noSuchIntegration } from './knownIntegrations.ts';
import { readRepeated, repeatedLines } from './repeatedCalls.ts';
import { sanitize, toJson } from './sanitize.ts';
import { type Cell, figure, tableOf } from './table.ts';
import { ago, createStyle, type Style, wrapLines } from './text.ts';
import { told } from './ownCommand.ts';

const dayMs = 24 * 60 * 60_000;
/** Terminals of so many columns have room for the course of time. */
const wideColumns = 110;

export const command = defineCommand({
  usage: 'report [--since DURATION] [--integration NAME] [--tools] [--json] [--db FILE]',
  details: [
    'CALLS are those that ended after something was sent. SUCCESS is the share of them that succeeded, without those that their own callers',
    'cancelled; what only a fallback answered is no success. P50, P95 and P99 say how long half of the successful calls took at most, 95 and 99',
    'percent of them, right to 6 percent; FIRST the same of the first chunk of streams, for 95 percent. REFUSED are calls that ended before',
    'anything was sent: by an open circuit, a limit, a rule, a stop; when a circuit last opened in that time, and by which rule, stands below the',
    'table, and calls that repeat without progress, and budgets that were used to 80 percent and more, with their tokens and money. What a reconcile rule asks is not counted with the calls: --tools shows it as a tool of its own, such as list_payments',
    '(reconcile). Figures are kept by the minute and reach the database within 10 s.',
  ].join('\n'),
  options: {
    since: duration('the time it is about, up to now; else 24h'),
    integration: text('NAME', 'only this integration', 'integrations'),
    tools: flag('each tool as well'),
  },
  async run(args, io) {
    const until = io.now();
    const sinceMs = args.since ?? dayMs;
    if (sinceMs === 0) throw new UsageError('Expected `--since` to be a duration above 0, got 0');
    const { from } = reportSpan(until, sinceMs);
    const shown = createShownNames();
    const integration = args.integration === undefined ? undefined : shown(args.integration);
    const { path, rows, openings, known, said } = await readDatabase(args.db, io, async (reader) => ({
      path: reader.path,
      rows: await reader.statistics(from),
      openings: await lastOpenings(reader, from),
      said: await readRepeated(reader, from, shown),
      known: integration === undefined || args.json ? new Set<string>() : await knownIntegrations(reader, io, shown),
    }));
    const reported = withShownNames(
      reportOf(rows, { from, until }).filter(
        ({ integration: name }) => integration === undefined || shown(name) === integration,
      ),
      shown,
    );
    const entries = reported.map((entry): Entry => {
      const lastOpened = openings.get(entry.integration);
      return { ...entry, ...(lastOpened !== undefined && { lastOpened }) };
    });
    const isMeant = (name: string | undefined): boolean => integration === undefined || name === integration;
    const repeated = said.repeated.filter((each) => isMeant(each.integration));
    const budgets = said.budgets.filter((each) => isMeant(each.name));
    if (args.json) {
      io.stdout.write(toJson({ database: path, from, until, integrations: entries, repeated, budgets }));
      return 0;
    }
    const style = createStyle(io);
    io.stdout.write(`${style.bold(sanitize(path))}: the last ${formatDuration(sinceMs)}\n`);
    if (entries.length > 0)
      io.stdout.write(`\n${reportTable(entries, args.tools, io, style)}${openingLines(entries, until, io)}`);
    else if (integration === undefined) io.stdout.write(wrapLines([told(emptyText, io)], io.columns));
    else {
      const none = known.has(integration)
        ? `No call of ${sanitize(integration)} has ended in that time.`
        : noSuchIntegration(integration, known);
      io.stdout.write(wrapLines([none], io.columns));
    }
    const lines = repeatedLines({ repeated, budgets }, until);
    if (lines.length > 0) io.stdout.write(`\n${wrapLines(lines, io.columns)}`);
    return 0;
  },
});

/** Reported figures of an integration, with the last opening of its circuit in that time. */
type Entry = ReportEntry & { readonly lastOpened?: LastOpening };

function openingLines(entries: readonly Entry[], now: number, io: Io): string {
  const lines = entries.flatMap(({ integration, lastOpened }) =>
    lastOpened === undefined ? [] : [openingLine(integration, lastOpened, now)],
  );
  return lines.length === 0 ? '' : `\n${wrapLines(lines, io.columns)}`;
}

/** Room for all kinds of failures, also in 60 columns. */
const mostFailedLines = 6;

const refusedText = 'REFUSED are no CALLS: nothing was sent (an open circuit, a limit, a rule, a stop).';

const emptyText = 'No call has ended in that time. A gateway, proxy or `unwedge run` with this database counts them.';

/** Figures of an integration, or of one of its tools. */
type Row = ReportLine & { readonly name: string; readonly steps?: readonly ReportStep[] };

function reportTable(entries: readonly ReportEntry[], withTools: boolean, io: Io, style: Style): string {
  const hasStreams = entries.some(({ firstChunk }) => firstChunk !== undefined);
  const isWide = io.isTTY && io.columns >= wideColumns;
  const rows = entries.flatMap((entry): Row[] => [
    { ...entry, name: entry.integration },
    ...(withTools ? entry.tools.map((tool) => ({ ...tool, name: `${entry.integration}: ${tool.tool ?? ''}` })) : []),
  ]);
  const latency = (title: string, key: keyof Quantiles, rank: number) =>
    figure<Row>(title, ({ took }) => (took === undefined ? '' : formatLatency(took[key])), rank);
  const table = tableOf(rows, io.columns, [
    { title: 'INTEGRATION', hasNames: true, cell: ({ name }) => name },
    figure('CALLS', ({ calls }) => calls, 2),
    { title: 'SUCCESS', align: 'right', rank: 1, cell: ({ successRate }) => rateCell(successRate, style) },
    latency('P50', 'p50Ms', 4),
    latency('P95', 'p95Ms', 3),
    latency('P99', 'p99Ms', 6),
    hasStreams &&
      figure('FIRST', ({ firstChunk }) => (firstChunk === undefined ? '' : formatLatency(firstChunk.p95Ms)), 7),
    figure('RETRIES', ({ retries }) => retries, 8),
    figure('REFUSED', ({ refused }) => refused, 5),
    isWide && { title: 'CALLS, SUCCESS OVER TIME', rank: 9, cell: ({ steps = [] }) => course(steps) },
    // Below its row it takes no figure's place; the course of time yields to it.
    { title: 'FAILED', stacks: 'first', belowTitle: 'failed: ', mostLines: mostFailedLines, cell: failures },
  ]);
  const isRefused = entries.some(({ refused }) => refused > 0);
  return isRefused ? `${table}${wrapWords(refusedText, io.columns).map(style.dim).join('\n')}\n` : table;
}

export function rateCell(rate: number | undefined, { red, yellow, green }: Style): Cell {
  const paint = rate === undefined || rate >= 0.99 ? green : rate >= 0.9 ? yellow : red;
  return { text: rateText(rate), paint };
}

function failures({ failures: byKind, fellBack }: ReportLine): string {
  const kinds = Object.entries(byKind).toSorted(([, one], [, other]) => other - one);
  const text = kinds.map(([kind, count]) => `${kind} ${count}`).join(', ');
  return fellBack === 0 ? text : `${text} (${fellBack} fell back)`;
}

const bars = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/** A bar for each step, as high as it had calls. */
function course(steps: readonly ReportStep[]): Cell {
  const most = Math.max(1, ...steps.map(({ calls }) => calls));
  return steps.map(({ calls }) => bars[Math.ceil((calls / most) * (bars.length - 1))] ?? '').join('');
}

/** Last opening of a circuit of an integration, and its reason. */
interface LastOpening {
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** Name of the tool whose circuit it is. */
  readonly tool?: string | undefined;
  readonly kind?: string | undefined;
  readonly rule?: BreakerRule | undefined;
  readonly error?: string | undefined;
}

/** Newest events of circuits that are looked at: closings are among them. */
const mostLooked = 2000;

/** The last opening of each integration since then, by its name as it is on record. @param since - wall time in ms since the epoch. */
async function lastOpenings(reader: StoreReader, since: number): Promise<ReadonlyMap<string, LastOpening>> {
  const rows = await reader.events({ category: 'breaker', since, limit: mostLooked });
  return new Map(rows.flatMap((row) => openingIn(row) ?? []));
}

/** Writes one line about it. */
function openingLine(integration: string, { at, tool, kind, rule, error }: LastOpening, now: number): string {
  const of = tool === undefined ? 'its circuit' : `the circuit of its tool ${sanitize(tool)}`;
  const why = [kind, error].filter((each) => each !== undefined).map(sanitize);
  const cause = why.length === 0 || kind === 'isolated' ? '' : `: ${why.join(': ')}`;
  return `${sanitize(integration)}: ${of} last opened ${ago(at, now)}${breakerRuleNote(rule)}${cause}`;
}

function openingIn({ type, at, metadata }: EventRow): readonly [readonly [string, LastOpening]] | undefined {
  const { integration, tool, kind, error } = metadata;
  if (type !== 'opened' || typeof integration !== 'string') return undefined;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const rule = readBreakerRule(metadata['rule']);
  return [[integration, { at, tool: text(tool), kind: text(kind), rule, error: text(error) }]];
}
