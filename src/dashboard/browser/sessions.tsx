import type { SessionDetail, SessionLine } from '../snapshot.ts';
import { useAsked } from './asked.ts';
import { OrderButton } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { isStale, tables } from './live.ts';
import { href, narrow, route } from './route.ts';
import { useSteady } from './steady.ts';
import { Table } from './table.tsx';
import { Ago, Countdown } from './times.tsx';
import { Why } from './whyPanel.tsx';
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

/** One session: why it waits and what ends that; what is on record. */
export function SessionPage({ id }: { readonly id: string }) {
  const row = tables.sessions.row(id);
  const { answer, error } = useAsked<SessionDetail>(`/api/session?id=${encodeURIComponent(id)}`, 1000);
  return (
    <>
      <div class="head">
        <div>
          <p class="faint">
            <a href={href('sessions')}>Sessions</a> / <bdi>{id}</bdi>
          </p>
          <h1 tabIndex={-1}>
            <bdi>{id}</bdi>
          </h1>
          <p class="dim">{row !== undefined && <State of={row.state ?? 'not live'} />}</p>
        </div>
        <div class="acts">
          {row?.state !== undefined && <OrderButton order="restart" name={id} of="session" text="Restart…" />}
        </div>
      </div>
      {answer === undefined && error !== '' && (
        <section class="box">
          <Empty title="Nothing is known of it">{error}</Empty>
        </section>
      )}
      {answer?.why !== undefined && <Why why={answer.why} at={answer.at} />}
      {answer !== undefined && <Records {...answer} />}
      {answer !== undefined && (
        <p>
          <a href={href('events', undefined, { find: id })}>Events of this session</a>
          {isStale.value && ' (not connected)'}
        </p>
      )}
    </>
  );
}

function Records({ records, why }: SessionDetail) {
  if (records === undefined) return null;
  const { messages, calls, deadLetters } = records;
  const nothing = messages.length + calls.length + deadLetters.length === 0;
  return (
    <section class="box" aria-label="On record">
      <div class="sh">
        <h2>On record</h2>
        <span class="faint">messages that wait, calls without a result, dead letters</span>
      </div>
      {nothing && <p class="in dim">Nothing waits and nothing is pending.</p>}
      {messages.length > 0 && (
        <Table
          columns={[
            { title: 'Message' },
            { title: 'Kind' },
            { title: 'State' },
            { title: 'Begun', isNumber: true },
            { title: 'Accepted' },
          ]}
        >
          {messages.map(({ id, kind, state, deliveries, postedAt }) => (
            <tr key={id}>
              <td class="mono">
                <bdi>{id}</bdi>
              </td>
              <td>
                <bdi>{kind}</bdi>
              </td>
              <td>{state === 'taken' ? 'in its turn' : 'waits'}</td>
              <td class="num" data-l="Begun">
                {deliveries}
              </td>
              <td>
                <Ago at={postedAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {why === undefined && calls.length > 0 && (
        <Table
          columns={[
            { title: 'Call' },
            { title: 'Integration' },
            { title: 'Tool' },
            { title: 'Started' },
            { title: 'Due' },
          ]}
        >
          {calls.map(({ call, integration, tool, startedAt, deadlineAt }) => (
            <tr key={call}>
              <td class="mono">
                <bdi>{call}</bdi>
              </td>
              <td>
                <a class="link" href={href('integrations', integration)}>
                  <bdi>{integration}</bdi>
                </a>
              </td>
              <td>
                <bdi>{tool}</bdi>
              </td>
              <td>
                <Ago at={startedAt} />
              </td>
              <td>
                <Countdown at={deadlineAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
      {deadLetters.length > 0 && (
        <Table columns={[{ title: 'Dead letter' }, { title: 'Why it is not delivered again' }]}>
          {deadLetters.map(({ id, reason }) => (
            <tr key={id}>
              <td class="mono">
                <bdi>{id}</bdi>
              </td>
              <td>{reason.replaceAll('_', ' ')}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
