import { formatLatency } from '../../../src/policy/duration.ts';
import type { IntegrationLine } from '../snapshot.ts';
import { BulkBar } from './bulkBar.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { Head } from './head.tsx';
import { stateOf, worst } from './health.tsx';
import { KeyedList } from './keyedList.tsx';
import { noPicked, Pick, useForgotten } from './picked.tsx';
import { href } from './route.ts';
import { Countdown } from './times.tsx';
import { successOf } from './success.ts';
import { count } from './words.ts';
import { tables } from './tables.ts';

/** All integrations, the worst first. */
export function Integrations() {
  useForgotten(picked);
  return (
    <>
      <Head title="Integrations">
        <InService />
      </Head>
      <Orders />
      <KeyedList label="Integrations" columns={columns} keys={integrationKeys} row={Row}>
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

const columns = [
  { title: 'Integration' },
  { title: 'State' },
  { title: 'Next' },
  { title: 'In flight', isNumber: true },
  { title: 'Wait', isNumber: true },
  { title: 'Success', isNumber: true },
  { title: 'p95', isNumber: true },
  { title: 'Last error' },
];

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

function Row({ of: key }: { readonly of: string }) {
  const row = tables.integrations.row(key);
  if (row === undefined) return null;
  const { probeAt, inFlight, waiting, report, lastError, cause } = row;
  const success = successOf(row);
  const error = cause ?? (lastError && { kind: lastError.kind, message: lastError.error });
  return (
    <tr data-row>
      <td>
        {row.runtimes.length > 0 && <Pick picked={picked} of={key} name={key} />}
        <a href={href('integrations', key)}>
          <b>
            <bdi>{key}</bdi>
          </b>
        </a>
      </td>
      <td>
        <State of={stateOf(row)} />
      </td>
      <td class="nw">
        {probeAt !== undefined && (
          <>
            probe in <Countdown at={probeAt} />
          </>
        )}
      </td>
      <td class="num" data-l="In flight">
        {count(inFlight)}
      </td>
      <td class="num" data-l="Wait">
        {count(waiting)}
      </td>
      <td class={`num ${success.isBad ? 'bad' : ''}`} data-l="Success">
        {success.text}
      </td>
      <td class="num" data-l="p95">
        {report?.took === undefined ? '–' : formatLatency(report.took.p95Ms)}
      </td>
      <td class="cut mono dim">
        {error !== undefined && `${error.kind === undefined ? '' : `${error.kind}: `}${error.message}`}
      </td>
    </tr>
  );
}
