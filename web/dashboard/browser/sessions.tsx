import type { SessionLine } from '../snapshot.ts';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { Head } from './head.tsx';
import { unseen } from './health.tsx';
import { KeyedList } from './keyedList.tsx';
import { href, narrow, route } from './route.ts';
import { Ago, Countdown } from './times.tsx';
import { count, counted } from './words.ts';
import { tables } from './tables.ts';

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
      <KeyedList key={only} label="Sessions" columns={columns} keys={sessionKeys} row={Row}>
        <Empty title={isFiltered ? 'No session matches' : 'No session is known yet'}>
          {isFiltered
            ? 'Choose All to see every session.'
            : 'Sessions of gateways that run on the database are shown here, and those on record of the last day.'}
        </Empty>
      </KeyedList>
    </>
  );
}

const columns = [
  { title: 'Session' },
  { title: 'State' },
  { title: 'Waits for' },
  { title: 'Next' },
  { title: 'Mailbox', isNumber: true },
  { title: 'Failed turns 24h', isNumber: true },
  { title: 'Last event' },
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

function Row({ of: key }: { readonly of: string }) {
  const row = tables.sessions.row(key);
  if (row === undefined) return null;
  const wait = tables.waits.row(`session ${key}`) ?? tables.waits.row(`question ${key} 0`);
  return (
    <tr data-row>
      <td>
        <a href={href('sessions', key)}>
          <b>
            <bdi>{key}</bdi>
          </b>
        </a>
      </td>
      <td>
        <State of={row.state ?? unseen()} />
      </td>
      <td class="cut dim">{wait?.text ?? failedText(row)}</td>
      <td class="nw">
        {wait?.endsAt !== undefined && (
          <>
            {wait.rule} in <Countdown at={wait.endsAt} />
          </>
        )}
      </td>
      <td class="num" data-l="Mailbox">
        {count(row.waiting)}
      </td>
      <td class={`num ${row.failedTurns24h > 0 ? 'warn' : ''}`} data-l="Failed turns 24h">
        {count(row.failedTurns24h)}
      </td>
      <td class="lb" data-l="Last event">
        {row.lastSeenAt !== undefined && <Ago at={row.lastSeenAt} />}
      </td>
    </tr>
  );
}
