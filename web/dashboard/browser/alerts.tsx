import type { AlertLine } from '../snapshot.ts';
import { Empty, Head, Titled } from './box.tsx';
import { OrderButton } from './dialog.tsx';
import { State } from './glyph.tsx';
import { now, right, tables } from './live.ts';
import { type Column, KeyedList } from './table.tsx';
import { Ago, Countdown } from './times.tsx';
import { count, counted, noteText } from './words.ts';

const order: readonly AlertLine['state'][] = ['open', 'unwatched', 'cleared'];

/** Alerts: what is open, then what was, the newest first. */
export function Alerts() {
  return (
    <>
      <Head title="Alerts">
        <OpenAlerts />
      </Head>
      <KeyedList label="Alerts" columns={columns} rows={tables.alerts} keys={alertKeys}>
        <Empty title="No alerts are on record">
          One is raised when an integration fails or crashes so often that somebody should look, and cleared when it is
          quiet.
        </Empty>
      </KeyedList>
    </>
  );
}

const columns: readonly Column<AlertLine>[] = [
  {
    title: 'State',
    cell: ({ state, note }) => (
      <>
        <State of={state === 'open' ? 'alert' : state} />
        {note !== undefined && <NoteText note={note} />}
      </>
    ),
  },
  { title: 'Integration', cell: ({ integration }) => <Titled view="integrations" name={integration} /> },
  { title: 'Raised', look: 'lb', cell: ({ raisedAt }) => raisedAt !== undefined && <Ago at={raisedAt} /> },
  { title: 'Failures', isNumber: true, cell: ({ failures }) => count(failures) },
  { title: 'Crashes', isNumber: true, cell: ({ crashes }) => count(crashes) },
  { title: 'Last', look: 'lb', cell: ({ lastFailureAt }) => <Ago at={lastFailureAt} /> },
  { title: 'Cleared', look: 'lb', cell: clearing },
  { title: 'What', look: 'cut mono dim', cell: ({ text }) => text },
  {
    title: 'Orders',
    cell: ({ state, integration }) =>
      state !== 'cleared' &&
      right.value === 'all' && (
        <div class="orders">
          <OrderButton order="acknowledge" name={integration} of="integration" text="Acknowledge…" />
          <OrderButton order="snooze" name={integration} of="integration" target="2h" text="Snooze 2 h…" />
        </div>
      ),
  },
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
function clearing({ clearedAt, rule, endsAt }: AlertLine) {
  if (clearedAt !== undefined) return <Ago at={clearedAt} />;
  if (rule === undefined || endsAt === undefined) return rule;
  return (
    <span class="nw">
      {'in '}
      <Countdown at={endsAt} />
    </span>
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
