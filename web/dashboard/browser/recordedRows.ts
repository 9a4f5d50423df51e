import { formatDuration } from '../../../src/policy/text/face.ts';
import type { CallLine, TurnLine } from '../turnLines.ts';
import { mailSegments, type Segment, type TimelineRow } from './timelineRows.ts';
import { counted } from './words.ts';

/** A turn as it is on record: when its calls began and ended. Of their attempts nothing but the number is kept. */
export function recordedRows(line: TurnLine): readonly TimelineRow[] {
  const { turn, message, kind, postedAt, takenAt, endedAt, error = '', deliveries = 1 } = line;
  const begunAt = takenAt ?? postedAt ?? endedAt ?? 0;
  const mail = postedAt === undefined ? [] : mailSegments(postedAt, begunAt, 'In the mailbox');
  const isOpen = endedAt === undefined;
  return [
    {
      ...{ key: 'message', title: message, sub: kind, marks: [], note: error, isPending: isOpen },
      segments: [
        ...mail,
        { look: 'turn', from: begunAt, to: endedAt ?? begunAt, text: `turn ${turn}`, title: `Turn ${turn}` },
      ],
      state: isOpen
        ? ['idle', 'faint', 'end not on record']
        : line.state === 'failed'
          ? ['cross', 'bad', 'failed']
          : ['ok', 'ok', line.state],
      stateNote:
        deliveries > 1 ? `begun ${deliveries} times` : isOpen ? '' : `after ${formatDuration(endedAt - begunAt)}`,
    },
    ...line.calls.map(callRow),
  ];
}

function callRow({
  call,
  integration,
  tool,
  startedAt,
  settledAt,
  ok,
  synthetic = false,
  attempts = 1,
  failure,
}: CallLine): TimelineRow {
  const isOver = settledAt !== undefined;
  const from = startedAt ?? settledAt ?? 0;
  const word = !isOver ? 'no result on record' : ok === true ? 'succeeded' : synthetic ? 'synthetic result' : 'failed';
  const bar: Segment = {
    ...{ look: ok === true ? 'good' : isOver ? 'fail' : 'none', from, to: settledAt ?? from },
    ...{ text: ok === true ? '✓' : isOver ? '✕' : '', title: word },
  };
  const pill: readonly Segment[] =
    synthetic && isOver ? [{ look: 'syn', from: settledAt, to: settledAt, text: 'synthetic', title: word }] : [];
  return {
    ...{ key: call, title: `${integration} · ${tool}`, marks: [], isPending: !isOver },
    sub: isOver ? counted(attempts, 'attempt') : '',
    segments: startedAt === undefined ? pill : [bar, ...pill],
    note: failure === undefined ? '' : `${failure.kind}: ${failure.message}`,
    state: [ok === true ? 'ok' : isOver ? 'cross' : 'idle', ok === true ? 'ok' : isOver ? 'bad' : 'faint', word],
    stateNote:
      startedAt === undefined
        ? 'its beginning is not on record'
        : isOver
          ? `after ${formatDuration(settledAt - startedAt)}`
          : '',
  };
}
