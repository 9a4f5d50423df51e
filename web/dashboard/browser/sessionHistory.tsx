import { formatDuration } from '../../../src/policy/duration.ts';
import type { CallLine, TurnLine } from '../turnLines.ts';
import { Empty } from './empty.tsx';
import { Glyph } from './glyph.tsx';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { Ago } from './times.tsx';
import { count } from './words.ts';

/** Messages that were processed and the calls of their turns, newest first. What was said in them is not shown: it may hold secrets. */
export function SessionHistory({ turns }: { readonly turns: readonly TurnLine[] }) {
  return (
    <section class="box" aria-label="History">
      <div class="sh">
        <h2>History</h2>
        <span class="faint">
          {turns.length === 0
            ? ''
            : turns.length === 1
              ? 'the only one on record'
              : `the last ${count(turns.length)} on record, newest first`}
        </span>
      </div>
      {turns.length === 0 ? (
        <Empty title="No turn is on record">
          Messages come here with the calls of their turns once they are processed.
        </Empty>
      ) : (
        <Table
          columns={[
            { title: 'When' },
            { title: 'What' },
            { title: 'Result' },
            { title: 'Attempts', isNumber: true },
            { title: 'Took', isNumber: true },
          ]}
        >
          {turns.flatMap((turn) => [
            <TurnRow key={turn.turn} {...turn} />,
            ...[...turn.calls].reverse().map((call) => <CallRow key={call.call} {...call} />),
          ])}
        </Table>
      )}
    </section>
  );
}

function TurnRow({ turn, kind, state, takenAt, endedAt, error, deliveries = 1, watchdog }: TurnLine) {
  const isOver = endedAt !== undefined;
  const isFailed = state === 'failed';
  const word = !isOver ? 'no end on record' : state === 'put_back' ? 'put back into the mailbox' : state;
  return (
    <tr data-row class="sub">
      <td class="lb" data-l="Started">
        {takenAt !== undefined && <Ago at={takenAt} />}
      </td>
      <td>
        <b>
          turn {turn}, <bdi>{kind}</bdi>
        </b>
      </td>
      <td>
        <span class={`st ${isFailed ? 'bad' : isOver ? 'ok' : 'faint'}`}>
          <Glyph name={isFailed ? 'cross' : isOver ? 'ok' : 'idle'} />
          {word}
        </span>
        {error !== undefined && error !== '' && <p class="ev wrap">{error}</p>}
        {watchdog !== undefined && <p class="faint">The watchdog ended {watchdog}.</p>}
      </td>
      <td class="num" data-l="Begun">
        {deliveries > 1 && `${deliveries} deliveries`}
      </td>
      <td class="num" data-l="Took">
        {isOver && takenAt !== undefined && formatDuration(endedAt - takenAt)}
      </td>
    </tr>
  );
}

function CallRow(line: CallLine) {
  const { integration, tool, startedAt, settledAt, ok, synthetic = false, attempts, failure, lateAt } = line;
  const isOver = settledAt !== undefined;
  const word = !isOver
    ? 'no result on record'
    : ok === true
      ? 'result'
      : attempts === 0
        ? 'refused'
        : synthetic
          ? 'synthetic result'
          : 'failed';
  return (
    <tr data-row>
      <td class="lb" data-l="Started">
        {startedAt !== undefined && <Ago at={startedAt} />}
      </td>
      <td class="wrap indent">
        <a class="link" href={href('integrations', integration)}>
          <bdi>{integration}</bdi>
        </a>{' '}
        <bdi>{tool}</bdi>
      </td>
      <td>
        <span class={`st ${ok === true ? 'ok' : isOver ? 'bad' : 'faint'}`}>
          <Glyph name={ok === true ? 'ok' : isOver ? 'cross' : 'idle'} />
          {word}
        </span>
        {failure !== undefined && (
          <p class="ev wrap">
            {failure.kind}: {failure.message}
          </p>
        )}
        {lateAt !== undefined && <p class="faint">An answer came later, and was kept aside.</p>}
      </td>
      <td class="num" data-l="Attempts">
        {isOver && attempts !== undefined && count(attempts)}
      </td>
      <td class="num" data-l="Took">
        {isOver && startedAt !== undefined && formatDuration(settledAt - startedAt)}
      </td>
    </tr>
  );
}
