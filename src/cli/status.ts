import { formatDuration } from '../policy/duration.ts';
import { type IntegrationStatus, readStatus, type SessionStatus, type StoreStatus } from '../store/status.ts';
import { defineCommand } from './command.ts';
import { readDatabase } from './database.ts';
import type { Io } from './io.ts';
import { sanitize, toJson } from './sanitize.ts';
import { createStyle, type Style } from './style.ts';
import { type Cell, renderTable } from './table.ts';
import { ago } from './timeText.ts';

export const status = defineCommand({
  name: 'status',
  summary: 'each integration with its circuit, failures and last error',
  usage: 'status [--json] [--db FILE]',
  details: [
    'Read from the records: failures and sessions of the last 24 hours, circuits as they were last kept.',
    'Calls in flight and queue lengths are known to the running gateway alone.',
  ].join('\n'),
  options: {},
  async run(args, io) {
    const now = io.now();
    const found = await readDatabase(args.db, io, (reader) => ({ database: reader.path, ...readStatus(reader, now) }));
    io.stdout.write(args.json ? toJson(found) : describe(found, now, io));
    return 0;
  },
});

function describe(found: StoreStatus & { readonly database: string }, now: number, io: Io): string {
  const style = createStyle(io);
  const events = `${found.events} ${found.events === 1 ? 'event' : 'events'}`;
  const parts = [`${style.bold(sanitize(found.database))}: ${events}\n`];
  if (found.integrations.length === 0) parts.push('No failures and no circuits are on record.\n');
  else parts.push(integrationTable(found.integrations, now, io, style));
  if (found.sessions.length > 0) parts.push(sessionTable(found.sessions, now, io));
  return parts.join('\n');
}

function integrationTable(integrations: readonly IntegrationStatus[], now: number, io: Io, style: Style): string {
  return renderTable(
    [
      { title: 'INTEGRATION' },
      { title: 'CIRCUIT' },
      { title: 'FAILED 10M', align: 'right' },
      { title: 'FAILED 24H', align: 'right' },
      { title: 'LAST ERROR' },
    ],
    integrations.map(({ integration, breaker, failures10m, failures24h, lastError }) => [
      integration,
      circuit(breaker, now, style),
      String(failures10m),
      String(failures24h),
      lastError === undefined ? '' : `${ago(lastError.at, now)}: ${lastError.kind ?? 'unknown'}: ${lastError.error}`,
    ]),
    io.columns,
  );
}

function circuit(breaker: IntegrationStatus['breaker'], now: number, style: Style): Cell {
  if (breaker === undefined || breaker.state === 'closed') return { text: 'closed', paint: style.green };
  // A wall clock that was set back must not show more than the circuit was ever opened for.
  const leftMs = Math.min(breaker.openUntil - now, breaker.lastOpenMs);
  const text = leftMs > 0 ? `open, probe in ${formatDuration(Math.ceil(leftMs / 1000) * 1000)}` : 'open, probe due';
  return { text, paint: style.red };
}

function sessionTable(sessions: readonly SessionStatus[], now: number, io: Io): string {
  return renderTable(
    [{ title: 'SESSION' }, { title: 'LAST EVENT' }],
    sessions.map(({ session, lastSeenAt }) => [session, ago(lastSeenAt, now)]),
    io.columns,
  );
}
