import { useRef } from 'preact/hooks';
import type { SessionWhy } from '../../../src/sessions/face.ts';
import type { SessionDetail } from '../snapshot.ts';
import { useAsked } from './asked.ts';
import { Box, Empty, Head, To } from './box.tsx';
import { IncidentButton, OrderButton } from './dialog.tsx';
import { State } from './glyph.tsx';
import { unseen } from './health.tsx';
import { Letters } from './letters.tsx';
import { isStale, tables } from './live.ts';
import { recordedRows } from './recordedRows.ts';
import { href } from './route.ts';
import { SessionHistory } from './sessionHistory.tsx';
import { type Column, Table } from './table.tsx';
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
      <Head
        within="sessions"
        title={id}
        end={
          <div class="acts">
            <IncidentButton of={id} />
            {row?.state !== undefined && <OrderButton order="restart" name={id} of="session" text="Restart…" />}
          </div>
        }
      >
        {row !== undefined && <State of={row.state ?? unseen()} />}
      </Head>
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
  return (
    <Box title="On record" note="messages that wait, calls without a result">
      {messages.length + calls.length === 0 && <p class="in dim">Nothing waits and nothing is pending.</p>}
      {messages.length > 0 && (
        <Table columns={messageColumns} rows={messages} keyOf={({ id }) => id} attributes={() => ({})} />
      )}
      {why === undefined && calls.length > 0 && (
        <Table columns={callColumns} rows={calls} keyOf={({ call }) => call} attributes={() => ({})} />
      )}
    </Box>
  );
}

type Records = NonNullable<SessionDetail['records']>;

const messageColumns: readonly Column<Records['messages'][number]>[] = [
  { title: 'Message', look: 'mono', cell: ({ id }) => <bdi>{id}</bdi> },
  { title: 'Kind', cell: ({ kind }) => <bdi>{kind}</bdi> },
  { title: 'State', cell: ({ state }) => (state === 'taken' ? 'in its turn' : 'waits') },
  { title: 'Begun', isNumber: true, cell: ({ deliveries }) => deliveries },
  { title: 'Accepted', look: 'lb', cell: ({ postedAt }) => <Ago at={postedAt} /> },
];

const callColumns: readonly Column<Records['calls'][number]>[] = [
  { title: 'Call', look: 'mono', cell: ({ call }) => <bdi>{call}</bdi> },
  { title: 'Integration', cell: ({ integration }) => <To view="integrations" name={integration} /> },
  { title: 'Tool', cell: ({ tool }) => <bdi>{tool}</bdi> },
  { title: 'Started', look: 'lb', cell: ({ startedAt }) => <Ago at={startedAt} /> },
  { title: 'Due', look: 'lb', label: 'Due in', cell: ({ deadlineAt }) => <Countdown at={deadlineAt} /> },
];
