import type { AlertLine } from '../snapshot.ts';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { tables } from './live.ts';
import { href } from './route.ts';
import { useSteady } from './steady.ts';
import { Table } from './table.tsx';
import { Ago } from './times.tsx';
import { count, counted } from './words.ts';

const order: readonly AlertLine['state'][] = ['open', 'unwatched', 'cleared'];

/** Alerts: what is open, then what was, the newest first. */
export function Alerts() {
  const all = tables.alerts.all.value;
  const sorted = [...all].sort(
    (one, other) => order.indexOf(one.state) - order.indexOf(other.state) || other.lastFailureAt - one.lastFailureAt,
  );
  const { rows, on } = useSteady(sorted);
  const open = all.filter(({ state }) => state !== 'cleared').length;
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Alerts</h1>
          <p class="dim">{open === 0 ? 'None is open.' : `${counted(open, 'alert is', 'alerts are')} open.`}</p>
        </div>
      </div>
      <section class="box" aria-label="Alerts" {...on}>
        {rows.length === 0 ? (
          <Empty title="No alerts are on record">
            One is raised when an integration fails or crashes so often that somebody should look, and cleared when it
            is quiet.
          </Empty>
        ) : (
          <Table
            columns={[
              { title: 'State' },
              { title: 'Integration' },
              { title: 'Raised' },
              { title: 'Failures', isNumber: true },
              { title: 'Crashes', isNumber: true },
              { title: 'Last' },
              { title: 'What' },
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
  const row = tables.alerts.row(key);
  if (row === undefined) return null;
  return (
    <tr data-row>
      <td>
        <State of={row.state === 'open' ? 'alert' : row.state} />
      </td>
      <td>
        <a href={href('integrations', row.integration)}>
          <b>
            <bdi>{row.integration}</bdi>
          </b>
        </a>
      </td>
      <td>{row.raisedAt !== undefined && <Ago at={row.raisedAt} />}</td>
      <td class="num" data-l="Failures">
        {count(row.failures)}
      </td>
      <td class="num" data-l="Crashes">
        {count(row.crashes)}
      </td>
      <td>
        <Ago at={row.lastFailureAt} />
      </td>
      <td class="cut mono dim">{row.text}</td>
    </tr>
  );
}
