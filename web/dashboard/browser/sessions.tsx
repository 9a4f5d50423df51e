import type { SessionLine, Wait } from '../snapshot.ts';
import { Empty, Head, Titled } from './box.tsx';
import { State } from './glyph.tsx';
import { unseen } from './health.tsx';
import { tables } from './live.ts';
import { narrow, route } from './route.ts';
import { type Column, KeyedList } from './table.tsx';
import { Ago, Countdown } from './times.tsx';
import { count, counted } from './words.ts';

const kinds = [['', 'All'] as const, ['waits', 'Waiting'] as const, ['live', 'Live'] as const];

/** Sessions, those that wait first. */
export function Sessions() {
  const only = chosen();
  const isFiltered = only !== '' && tables.sessions.all.peek().length > 0;
  return (
    <>
      <Head
        title="Sessions"
        end={
          <div class="seg" role="group" aria-label="Which sessions">
            {kinds.map(([value, text]) => (
              <button key={value} type="button" aria-pressed={only === value} onClick={() => narrow({ only: value })}>
                {text}
              </button>
            ))}
          </div>
        }
      >
        <Counts />
      </Head>
      <KeyedList key={only} label="Sessions" columns={columns} rows={tables.sessions} keys={sessionKeys}>
        <Empty title={isFiltered ? 'No session matches' : 'No session is known yet'}>
          {isFiltered
            ? 'Choose All to see every session.'
            : 'Sessions of gateways that run on the database are shown here, and those on record of the last day.'}
        </Empty>
      </KeyedList>
    </>
  );
}

const waitOf = ({ key }: SessionLine): Wait | undefined =>
  tables.waits.row(`session ${key}`) ?? tables.waits.row(`question ${key} 0`);

const columns: readonly Column<SessionLine>[] = [
  { title: 'Session', cell: ({ key }) => <Titled view="sessions" name={key} /> },
  {
    title: 'State',
    cell: (row) => <State of={waitOf(row)?.sign === 'spinning' ? 'spinning' : (row.state ?? unseen())} />,
  },
  { title: 'Waits for', look: 'cut dim', cell: (row) => waitOf(row)?.text ?? failedText(row) },
  {
    title: 'Next',
    look: 'nw',
    cell(row) {
      const { rule, endsAt } = waitOf(row) ?? {};
      if (endsAt === undefined) return null;
      return (
        <>
          {rule} in <Countdown at={endsAt} />
        </>
      );
    },
  },
  { title: 'Mailbox', isNumber: true, cell: ({ waiting }) => count(waiting) },
  {
    title: 'Failed turns 24h',
    isNumber: true,
    look: ({ failedTurns24h }) => (failedTurns24h > 0 ? 'warn' : ''),
    cell: ({ failedTurns24h }) => count(failedTurns24h),
  },
  { title: 'Last event', look: 'lb', cell: ({ lastSeenAt }) => lastSeenAt !== undefined && <Ago at={lastSeenAt} /> },
];

const chosen = (): string => route.value.query.get('only') ?? '';

function waitingSessions(): ReadonlySet<string> {
  return new Set(tables.waits.all.value.filter(({ of }) => of === 'session').map(({ name }) => name));
}

function Counts() {
  const live = tables.sessions.all.value.filter(({ state }) => state !== undefined).length;
  return (
    <>
      {counted(live, 'session')} live, {count(waitingSessions().size)} with a question, a retry or 10 s of silence.
    </>
  );
}

function sessionKeys(): readonly string[] {
  const only = chosen();
  const waits = waitingSessions();
  const rank = ({ key, state }: SessionLine): number =>
    waits.has(key) ? 0 : state === undefined ? 3 : state === 'idle' ? 2 : 1;
  return tables.sessions.all.value
    .filter(({ key, state }) => only === '' || (only === 'waits' ? waits.has(key) : state !== undefined))
    .map((row) => [rank(row), row.key] as const)
    .sort(([one, a], [other, b]) => one - other || (a < b ? -1 : 1))
    .map(([, key]) => key);
}

/** A turn that failed is over: nothing waits, and its row says what it was. */
function failedText({ failedTurns24h, lastError }: SessionLine): string | undefined {
  if (failedTurns24h === 0 || lastError === undefined) return undefined;
  const { kind, error } = lastError;
  return `Nothing; its last failed turn: ${kind === undefined ? '' : `${kind}: `}${error}`;
}
