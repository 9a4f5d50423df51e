import type { AlertLine } from '../snapshot.ts';
import { noteText } from './alertNote.ts';
import { OrderButton } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { Head } from './head.tsx';
import { KeyedList } from './keyedList.tsx';
import { now, right } from './live.ts';
import { href } from './route.ts';
import { Ago, Countdown } from './times.tsx';
import { count, counted } from './words.ts';
import { tables } from './tables.ts';

const order: readonly AlertLine['state'][] = ['open', 'unwatched', 'cleared'];

/** Alerts: what is open, then what was, the newest first. */
export function Alerts() {
  return (
    <>
      <Head title="Alerts">
        <OpenAlerts />
      </Head>
      <KeyedList label="Alerts" columns={columns} keys={alertKeys} row={Row}>
        <Empty title="No alerts are on record">
          One is raised when an integration fails or crashes so often that somebody should look, and cleared when it is
          quiet.
        </Empty>
      </KeyedList>
    </>
  );
}

const columns = [
  { title: 'State' },
  { title: 'Integration' },
  { title: 'Raised' },
  { title: 'Failures', isNumber: true },
  { title: 'Crashes', isNumber: true },
  { title: 'Last' },
  { title: 'Cleared' },
  { title: 'What' },
  { title: 'Orders' },
];

function OpenAlerts() {
  const open = tables.alerts.all.value.filter(({ state }) => state !== 'cleared').length;
  return <>{open === 0 ? 'None is open.' : `${counted(open, 'alert is', 'alerts are')} open.`}</>;
}

function alertKeys(): readonly string[] {
  const rank = ({ state }: AlertLine): number => order.indexOf(state);
  return [...tables.alerts.all.value]
    .sort((one, other) => rank(one) - rank(other) || other.lastFailureAt - one.lastFailureAt)
    .map(({ key }) => key);
}

/** Shows when it was cleared, or what clears it. */
function Clearing({ clearedAt, rule, endsAt }: AlertLine) {
  if (clearedAt !== undefined) return <Ago at={clearedAt} />;
  if (rule === undefined) return null;
  return (
    <>
      {endsAt === undefined ? (
        rule
      ) : (
        <span class="nw">
          {'in '}
          <Countdown at={endsAt} />
        </span>
      )}
    </>
  );
}

/** Shows who looks after it, and until when. */
function NoteText({ note }: { readonly note: NonNullable<AlertLine['note']> }) {
  const { text, at, endsAt } = noteText(note, now.value);
  return (
    <p class="faint" title={note.why}>
      {`${text} `}
      {endsAt === undefined ? <Ago at={at} /> : <Countdown at={endsAt} />}
    </p>
  );
}

function Row({ of: key }: { readonly of: string }) {
  const row = tables.alerts.row(key);
  if (row === undefined) return null;
  return (
    <tr data-row>
      <td>
        <State of={row.state === 'open' ? 'alert' : row.state} />
        {row.note !== undefined && <NoteText note={row.note} />}
      </td>
      <td>
        <a href={href('integrations', row.integration)}>
          <b>
            <bdi>{row.integration}</bdi>
          </b>
        </a>
      </td>
      <td class="lb" data-l="Raised">
        {row.raisedAt !== undefined && <Ago at={row.raisedAt} />}
      </td>
      <td class="num" data-l="Failures">
        {count(row.failures)}
      </td>
      <td class="num" data-l="Crashes">
        {count(row.crashes)}
      </td>
      <td class="lb" data-l="Last">
        <Ago at={row.lastFailureAt} />
      </td>
      <td class="lb" data-l="Cleared">
        <Clearing {...row} />
      </td>
      <td class="cut mono dim">{row.text}</td>
      <td>
        {row.state !== 'cleared' && right.value === 'all' && (
          <div class="orders">
            <OrderButton order="acknowledge" name={row.integration} of="integration" text="Acknowledge…" />
            <OrderButton order="snooze" name={row.integration} of="integration" target="2h" text="Snooze 2 h…" />
          </div>
        )}
      </td>
    </tr>
  );
}
