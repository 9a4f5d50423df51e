import { breakerRuleText } from '../../../src/policy/face.ts';
import type { CountedFailure } from '../../../src/policy/records/face.ts';
import type { IntegrationLine } from '../snapshot.ts';
import { CircuitChart } from './machines.tsx';
import { IncidentButton, OrderButton } from './dialog.tsx';
import { Box, Empty, Head, To } from './box.tsx';
import { State } from './glyph.tsx';
import { stateOf } from './health.tsx';
import { IntegrationFigures, Tools } from './integrationFigures.tsx';
import { now, tables } from './live.ts';
import { href } from './route.ts';
import { type Column, Table } from './table.tsx';
import { Ago, Countdown, Since } from './times.tsx';
import { counted } from './words.ts';

/** Shows one integration: state and next probe, cause of the opening, how well it works, its tools. */
export function IntegrationPage({ name }: { readonly name: string }) {
  const row = tables.integrations.row(name);
  if (row === undefined) {
    return (
      <>
        <Head within="integrations" title={name} />
        <section class="box">
          <Empty title="Nobody knows this integration">No live gateway has it, and nothing of it is on record.</Empty>
        </section>
      </>
    );
  }
  return (
    <>
      <Head
        within="integrations"
        title={name}
        end={
          <div class="acts">
            <IncidentButton of={name} />
            {(row.circuit === 'open' || row.pausedUntil !== undefined) && (
              <OrderButton order="probe" name={name} of="integration" text="Probe now…" />
            )}
            {row.circuit === 'closed' || row.circuit === 'crashed' ? (
              <OrderButton order="isolate" name={name} of="integration" text="Isolate…" />
            ) : (
              <OrderButton order="reset" name={name} of="integration" text="Reset circuit…" />
            )}
            <OrderButton order="restart" name={name} of="integration" text="Restart…" />
          </div>
        }
      >
        <State of={stateOf(row)} /> · <Now {...row} />
      </Head>
      <Cause {...row} />
      <IntegrationFigures report={row.report} />
      {row.report !== undefined && row.report.tools.length > 0 && <Tools {...row.report} />}
      <CircuitChart state={stateOf(row)} />
      <p>
        <a href={href('events', undefined, { integration: name })}>Events of {name}</a>
      </p>
    </>
  );
}

function Now({ circuit, openedAt, probeAt, pausedUntil, waiting, inFlight, runtimes }: IntegrationLine) {
  const calls = `${counted(inFlight, 'call')} in flight, ${counted(waiting, 'call')} ${waiting === 1 ? 'waits' : 'wait'}`;
  if (circuit === 'isolated') return <>Calls are refused until somebody resets the circuit. {calls}.</>;
  return (
    <>
      {openedAt !== undefined && (
        <>
          for <Since at={openedAt} />.{' '}
        </>
      )}
      {runtimes.length === 0 ? 'No live gateway has it. ' : `${calls}. `}
      {pausedUntil !== undefined && (
        <>
          Its server asked not to be called for <Countdown at={pausedUntil} />.{' '}
        </>
      )}
      {probeAt !== undefined && probeAt <= now.value && 'The next call tries it.'}
      {probeAt !== undefined && probeAt > now.value && (
        <>
          The next probe decides, in <Countdown at={probeAt} />.
        </>
      )}
    </>
  );
}

function Cause({ cause, openedAt, lastError }: IntegrationLine) {
  if (cause === undefined) {
    return lastError === undefined ? null : (
      <Box title="Last error" note={<Ago at={lastError.at} />}>
        <p class="in mono wrap">
          {lastError.kind === undefined ? '' : `${lastError.kind}: `}
          {lastError.error}
        </p>
      </Box>
    );
  }
  const { failures, rule } = cause;
  const count = failures.length > 1 ? `${failures.length} attempts failed` : 'An attempt failed';
  return (
    <Box title="Why it opened" note={openedAt && <Ago at={openedAt} />}>
      <p class="in large wrap">
        {rule === undefined ? count : sentence(breakerRuleText(rule))}:{' '}
        <code>
          {cause.kind}: {cause.message}
        </code>
      </p>
      {failures.length > 1 && (
        <Table
          columns={failureColumns}
          rows={failures.toReversed()}
          keyOf={(failure) => failures.indexOf(failure)}
          attributes={() => ({})}
        />
      )}
    </Box>
  );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

const failureColumns: readonly Column<CountedFailure>[] = [
  { title: 'When', look: 'lb', label: 'Failed', cell: ({ at }) => <Ago at={at} /> },
  { title: 'Tool', cell: ({ label }) => <bdi>{label}</bdi> },
  { title: 'Failure', look: 'mono wrap', cell: ({ kind, message }) => `${kind}: ${message}` },
  { title: 'Session', cell: ({ session }) => session !== undefined && <To view="sessions" name={session} /> },
];
