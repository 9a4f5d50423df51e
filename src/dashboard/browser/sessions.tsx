import type { SessionLine } from '../snapshot.ts';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { tables } from './live.ts';
import { href, narrow, route } from './route.ts';
import { useSteady } from './steady.ts';
import { Table } from './table.tsx';
import { Ago, Countdown } from './times.tsx';
import { count, counted } from './words.ts';

/** Sessions, those that wait first. */
export function Sessions() {
  const all = tables.sessions.all.value;
  const only = route.value.query.get('only') ?? '';
  const waits = new Map(tables.waits.all.value.filter(({ of }) => of === 'session').map((wait) => [wait.name, wait]));
  const shown = all.filter(
    ({ key, state }) => only === '' || (only === 'waits' ? waits.has(key) : state !== undefined),
  );
  const rank = ({ key, state }: SessionLine): number =>
    waits.has(key) ? 0 : state === undefined ? 3 : state === 'idle' ? 2 : 1;
  const sorted = [...shown].sort((one, other) => rank(one) - rank(other) || (one.key < other.key ? -1 : 1));
  const { rows, on } = useSteady(sorted);
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Sessions</h1>
          <p class="dim">
            {counted(all.filter(({ state }) => state !== undefined).length, 'session')} live, {count(waits.size)} with
            something to wait for.
          </p>
        </div>
        <div class="seg" role="group" aria-label="Which sessions">
          {[['', 'All'] as const, ['waits', 'Waiting'] as const, ['live', 'Live'] as const].map(([value, text]) => (
            <button key={value} type="button" aria-pressed={only === value} onClick={() => narrow({ only: value })}>
              {text}
            </button>
          ))}
        </div>
      </div>
      <section class="box" aria-label="Sessions" {...on}>
        {rows.length === 0 ? (
          <Empty title={all.length === 0 ? 'No session is known yet' : 'No session matches'}>
            {all.length === 0
              ? 'Sessions of gateways that run on the database are shown here, and those on record of the last day.'
              : 'Choose All to see every session.'}
          </Empty>
        ) : (
          <Table
            columns={[
              { title: 'Session' },
              { title: 'State' },
              { title: 'Waits for' },
              { title: 'Next' },
              { title: 'Mailbox', isNumber: true },
              { title: 'Failed turns 24h', isNumber: true },
              { title: 'Last event' },
            ]}
          >
            {rows.map(({ key }) => (
              <Row key={key} of={key} />
            ))}
          </Table>
        )}
      </section>
    </>
  );
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
        <State of={row.state ?? 'not live'} />
      </td>
      <td class="cut dim">{wait?.text}</td>
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
      <td>{row.lastSeenAt !== undefined && <Ago at={row.lastSeenAt} />}</td>
    </tr>
  );
}
