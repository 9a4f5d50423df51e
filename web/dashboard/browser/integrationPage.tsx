import { breakerRuleText } from '../../../src/policy/breakerRule.ts';
import type { CountedFailure } from '../../../src/policy/breakerCause.ts';
import type { IntegrationLine } from '../snapshot.ts';
import { CircuitChart } from './machines.tsx';
import { OrderButton } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { stateOf } from './health.tsx';
import { IncidentButton } from './incidentButton.tsx';
import { IntegrationFigures, Tools } from './integrationFigures.tsx';
import { now } from './live.ts';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { Ago, Countdown, Since } from './times.tsx';
import { counted } from './words.ts';
import { tables } from './tables.ts';

/** Shows one integration: state and next probe, cause of the opening, how well it works, its tools. */
export function IntegrationPage({ name }: { readonly name: string }) {
  const row = tables.integrations.row(name);
  if (row === undefined) {
    return (
      <>
        <Crumb name={name} />
        <section class="box">
          <Empty title="Nobody knows this integration">No live gateway has it, and nothing of it is on record.</Empty>
        </section>
      </>
    );
  }
  return (
    <>
      <div class="head">
        <div>
          <Crumb name={name} />
          <p class="dim">
            <State of={stateOf(row)} /> · <Now {...row} />
          </p>
        </div>
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
      </div>
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

function Crumb({ name }: { readonly name: string }) {
  return (
    <>
      <p class="faint">
        <a href={href('integrations')}>Integrations</a> / <bdi>{name}</bdi>
      </p>
      <h1 tabIndex={-1}>
        <bdi>{name}</bdi>
      </h1>
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
      {probeAt !== undefined && (
        <>
          {probeAt > now.value ? (
            <>
              The next probe decides, in <Countdown at={probeAt} />.
            </>
          ) : (
            'The next call tries it.'
          )}
        </>
      )}
    </>
  );
}

function Cause({ cause, openedAt, lastError }: IntegrationLine) {
  if (cause === undefined) {
    return lastError === undefined ? null : (
      <section class="box" aria-label="Last error">
        <div class="sh">
          <h2>Last error</h2>
          <span class="faint">
            <Ago at={lastError.at} />
          </span>
        </div>
        <p class="in mono wrap">
          {lastError.kind === undefined ? '' : `${lastError.kind}: `}
          {lastError.error}
        </p>
      </section>
    );
  }
  const { failures, rule } = cause;
  const count = failures.length > 1 ? `${failures.length} attempts failed` : 'An attempt failed';
  return (
    <section class="box" aria-label="Why it opened">
      <div class="sh">
        <h2>Why it opened</h2>
        {openedAt !== undefined && (
          <span class="faint">
            <Ago at={openedAt} />
          </span>
        )}
      </div>
      <p class="in large wrap">
        {rule === undefined ? count : sentence(breakerRuleText(rule))}:{' '}
        <code>
          {cause.kind}: {cause.message}
        </code>
      </p>
      {failures.length > 1 && (
        <Table columns={[{ title: 'When' }, { title: 'Tool' }, { title: 'Failure' }, { title: 'Session' }]}>
          {[...failures].reverse().map((failure, index) => (
            <Failure key={index} {...failure} />
          ))}
        </Table>
      )}
    </section>
  );
}

const sentence = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Failure({ at, label, kind, message, session }: CountedFailure) {
  return (
    <tr>
      <td class="lb" data-l="Failed">
        <Ago at={at} />
      </td>
      <td>
        <bdi>{label}</bdi>
      </td>
      <td class="mono wrap">
        {kind}: {message}
      </td>
      <td>
        {session !== undefined && (
          <a class="link" href={href('sessions', session)}>
            <bdi>{session}</bdi>
          </a>
        )}
      </td>
    </tr>
  );
}
