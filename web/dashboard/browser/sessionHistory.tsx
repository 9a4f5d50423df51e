import { formatDuration } from '../../../src/policy/text/face.ts';
import type { CallLine, TurnLine } from '../turnLines.ts';
import { Box, Empty, To } from './box.tsx';
import { Signed } from './glyph.tsx';
import { type Column, Table } from './table.tsx';
import { Ago } from './times.tsx';
import { count } from './words.ts';

type Line = TurnLine | CallLine;

const isTurn = (line: Line): line is TurnLine => 'calls' in line;

/** Messages that were processed and the calls of their turns, newest first. What was said in them is not shown: it may hold secrets. */
export function SessionHistory({ turns }: { readonly turns: readonly TurnLine[] }) {
  const many = `the last ${count(turns.length)} on record, newest first`;
  return (
    <Box title="History" note={turns.length === 0 ? undefined : turns.length === 1 ? 'the only one on record' : many}>
      {turns.length === 0 ? (
        <Empty title="No turn is on record">
          Messages come here with the calls of their turns once they are processed.
        </Empty>
      ) : (
        <Table
          columns={columns}
          rows={turns.flatMap((turn): readonly Line[] => [turn, ...turn.calls.toReversed()])}
          keyOf={(line) => (isTurn(line) ? line.turn : line.call)}
          attributes={(line) => ({ 'data-row': true, class: isTurn(line) ? 'sub' : '' })}
        />
      )}
    </Box>
  );
}

const columns: readonly Column<Line>[] = [
  {
    title: 'When',
    look: 'lb',
    label: 'Started',
    cell(line) {
      const at = begunAt(line);
      return at !== undefined && <Ago at={at} />;
    },
  },
  {
    title: 'What',
    look: (line) => (isTurn(line) ? '' : 'wrap indent'),
    cell: (line) =>
      isTurn(line) ? (
        <b>
          turn {line.turn}, <bdi>{line.kind}</bdi>
        </b>
      ) : (
        <>
          <To view="integrations" name={line.integration} /> <bdi>{line.tool}</bdi>
        </>
      ),
  },
  { title: 'Result', cell: (line) => (isTurn(line) ? <TurnResult {...line} /> : <CallResult {...line} />) },
  {
    title: 'Attempts',
    isNumber: true,
    cell: (line) =>
      isTurn(line)
        ? (line.deliveries ?? 1) > 1 && `${line.deliveries} deliveries`
        : line.settledAt !== undefined && line.attempts !== undefined && count(line.attempts),
  },
  {
    title: 'Took',
    isNumber: true,
    cell(line) {
      const [from, to] = [begunAt(line), isTurn(line) ? line.endedAt : line.settledAt];
      return from !== undefined && to !== undefined && formatDuration(to - from);
    },
  },
];

const begunAt = (line: Line): number | undefined => (isTurn(line) ? line.takenAt : line.startedAt);

function TurnResult({ state, endedAt, error, watchdog }: TurnLine) {
  const isOver = endedAt !== undefined;
  return (
    <>
      <Signed sign={state === 'failed' ? ['cross', 'bad'] : isOver ? ['ok', 'ok'] : ['idle', 'faint']}>
        {!isOver ? 'no end on record' : state === 'put_back' ? 'put back into the mailbox' : state}
      </Signed>
      {error !== undefined && error !== '' && <p class="ev wrap">{error}</p>}
      {watchdog !== undefined && <p class="faint">The watchdog ended {watchdog}.</p>}
    </>
  );
}

function CallResult({ settledAt, ok, synthetic = false, attempts, failure, lateAt }: CallLine) {
  const isOver = settledAt !== undefined;
  const failed = attempts === 0 ? 'refused' : synthetic ? 'synthetic result' : 'failed';
  return (
    <>
      <Signed sign={ok === true ? ['ok', 'ok'] : isOver ? ['cross', 'bad'] : ['idle', 'faint']}>
        {!isOver ? 'no result on record' : ok === true ? 'result' : failed}
      </Signed>
      {failure !== undefined && (
        <p class="ev wrap">
          {failure.kind}: {failure.message}
        </p>
      )}
      {lateAt !== undefined && <p class="faint">An answer came later, and was kept aside.</p>}
    </>
  );
}
