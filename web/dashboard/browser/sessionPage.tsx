import { useRef } from 'preact/hooks';
import type { SessionWhy } from '../../../src/sessions/why.ts';
import type { SessionDetail } from '../snapshot.ts';
import { useAsked } from './asked.ts';
import { OrderButton } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { unseen } from './health.tsx';
import { IncidentButton } from './incidentButton.tsx';
import { Letters } from './letters.tsx';
import { isStale } from './live.ts';
import { recordedRows } from './recordedRows.ts';
import { href } from './route.ts';
import { SessionHistory } from './sessionHistory.tsx';
import { Table } from './table.tsx';
import { tables } from './tables.ts';
import { Timeline } from './timeline.tsx';
import { liveRows } from './timelineRows.ts';
import { Ago, Countdown } from './times.tsx';
import { Why } from './whyPanel.tsx';

/** Shows one session: why it waits and what ends that; what is on record. */
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
          <p class="dim">{row !== undefined && <State of={row.state ?? unseen()} />}</p>
        </div>
        <div class="acts">
          <IncidentButton of={id} />
          {row?.state !== undefined && <OrderButton order="restart" name={id} of="session" text="Restart…" />}
        </div>
      </div>
      {answer === undefined && error !== '' && (
        <section class="box">
          <Empty title="Nothing is known of it">{error}</Empty>
        </section>
      )}
      {answer?.why !== undefined && <Why why={answer.why} at={answer.at} />}
      {answer !== undefined && <Turn {...answer} />}
      <Letters session={id} />
      {answer !== undefined && (
        <div class="two">
          <SessionHistory turns={answer.turns.filter(({ turn }) => turn !== answer.why?.turn?.turn)} />
          <SessionRecords {...answer} />
        </div>
      )}
      {answer !== undefined && (
        <p>
          <a href={href('events', undefined, { session: id })}>Events of this session</a>
          {isStale.value && ' (not connected)'}
        </p>
      )}
    </>
  );
}

/** The turn under way, or else the last one on record. */
function Turn({ why, at, turns }: SessionDetail) {
  const begunAt = useBegunAt(why, at);
  if (why?.turn !== undefined) {
    const note = 'stretches without a change are folded';
    return <Timeline title={`Turn ${why.turn.turn}`} note={note} rows={liveRows(why, begunAt)} isLive />;
  }
  const [last] = turns;
  if (last === undefined) return null;
  const note = 'from the record, which keeps when a call began and ended, and no times of its attempts';
  return <Timeline title={`Last turn, ${last.turn}`} note={note} rows={recordedRows(last)} isLive={false} />;
}

const hardlyMs = 1500;

/** Returns the beginning of the turn: it is told as so long ago, and would move by a few ms with each answer. */
function useBegunAt(why: SessionWhy | undefined, at: number): number {
  const known = useRef({ turn: 0, at: 0 });
  const { turn } = why ?? {};
  if (turn === undefined) return 0;
  const begunAt = at - turn.sinceMs;
  const isSame = known.current.turn === turn.turn && Math.abs(known.current.at - begunAt) < hardlyMs;
  if (!isSame) known.current = { turn: turn.turn, at: begunAt };
  return known.current.at;
}

/** Shows the waiting records of a session. */
function SessionRecords({ records, why }: Pick<SessionDetail, 'records' | 'why'>) {
  if (records === undefined) return null;
  const { messages, calls } = records;
  const nothing = messages.length + calls.length === 0;
  return (
    <section class="box" aria-label="On record">
      <div class="sh">
        <h2>On record</h2>
        <span class="faint">messages that wait, calls without a result</span>
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
              <td class="lb" data-l="Accepted">
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
              <td class="lb" data-l="Started">
                <Ago at={startedAt} />
              </td>
              <td class="lb" data-l="Due in">
                <Countdown at={deadlineAt} />
              </td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}
