import type { IntegrationLine } from '../snapshot.ts';
import { Empty, Head, Titled } from './box.tsx';
import { BulkBar, noPicked, Pick, useForgotten } from './bulkBar.tsx';
import { State } from './glyph.tsx';
import { stateOf, worst } from './health.tsx';
import { tables } from './live.ts';
import { type Column, KeyedList } from './table.tsx';
import { Countdown } from './times.tsx';
import { count, latency, successOf } from './words.ts';

/** All integrations, the worst first. */
export function Integrations() {
  useForgotten(picked);
  return (
    <>
      <Head title="Integrations">
        <InService />
      </Head>
      <Orders />
      <KeyedList label="Integrations" columns={columns} rows={tables.integrations} keys={integrationKeys}>
        <Empty title="No integration is known yet">
          Those of gateways that run on the database are shown here, and those with failures on record.
        </Empty>
      </KeyedList>
    </>
  );
}

const picked = noPicked();

/** Orders on those that are chosen. */
function Orders() {
  const rows = tables.integrations.all.value;
  const keysOf = (fits: (row: IntegrationLine) => boolean): readonly string[] =>
    rows.filter(fits).map(({ key }) => key);
  const live = keysOf(({ runtimes }) => runtimes.length > 0);
  if (live.length === 0) return null;
  return (
    <BulkBar
      picked={picked}
      noun="integration"
      about={(name) => ({ name })}
      groups={[
        ['all', live],
        ['those out of service', keysOf(isOut)],
      ]}
      choices={[
        {
          ...{ order: 'reset', text: 'Reset', fits: keysOf(isOut) },
          after: ['ok', 'ok', 'Their circuits close, and calls that wait go on; what was counted is forgotten.'],
        },
        {
          ...{ order: 'probe', text: 'Probe', fits: keysOf(mayProbe) },
          after: ['clock', 'acc', 'One call tries each of them now; where it is answered, calls go through again.'],
        },
        {
          ...{ order: 'restart', text: 'Restart', fits: live },
          after: ['cross', 'bad', 'Their calls in flight are cut off; what may be sent again is.'],
        },
      ]}
    />
  );
}

const isOut = ({ circuit, runtimes }: IntegrationLine): boolean =>
  runtimes.length > 0 && circuit !== 'closed' && circuit !== 'crashed';
const mayProbe = ({ circuit, pausedUntil, runtimes }: IntegrationLine): boolean =>
  runtimes.length > 0 && (circuit === 'open' || pausedUntil !== undefined);

const columns: readonly Column<IntegrationLine>[] = [
  {
    title: 'Integration',
    cell: ({ key, runtimes }) => (
      <>
        {runtimes.length > 0 && <Pick picked={picked} of={key} name={key} />}
        <Titled view="integrations" name={key} />
      </>
    ),
  },
  { title: 'State', cell: (row) => <State of={stateOf(row)} /> },
  {
    title: 'Next',
    look: 'nw',
    cell: ({ probeAt }) =>
      probeAt !== undefined && (
        <>
          probe in <Countdown at={probeAt} />
        </>
      ),
  },
  { title: 'In flight', isNumber: true, cell: ({ inFlight }) => count(inFlight) },
  { title: 'Wait', isNumber: true, cell: ({ waiting }) => count(waiting) },
  {
    title: 'Success',
    isNumber: true,
    look: (row) => (successOf(row).isBad ? 'bad' : ''),
    cell: (row) => successOf(row).text,
  },
  { title: 'p95', isNumber: true, cell: ({ report }) => latency(report?.took?.p95Ms) },
  { title: 'Last error', look: 'cut mono dim', cell: errorText },
];

function errorText({ cause, lastError }: IntegrationLine): string | undefined {
  const error = cause ?? (lastError && { kind: lastError.kind, message: lastError.error });
  return error && `${error.kind === undefined ? '' : `${error.kind}: `}${error.message}`;
}

function InService() {
  const rows = tables.integrations.all.value;
  const out = rows.filter(({ circuit }) => circuit !== 'closed').length;
  return (
    <>
      {out === 0
        ? `All ${count(rows.length)} are in service.`
        : `${out} of ${count(rows.length)} ${out === 1 ? 'is' : 'are'} out of service.`}
    </>
  );
}

function integrationKeys(): readonly string[] {
  return [...tables.integrations.all.value].sort(worst).map(({ key }) => key);
}
