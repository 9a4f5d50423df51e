import type { CountedFailure } from '../../policy/breakerCause.ts';
import type { ReportEntry } from '../../policy/callReport.ts';
import type { IntegrationLine } from '../snapshot.ts';
import { CircuitChart } from './machines.tsx';
import { OrderButton } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { Figure, isLow, perMinute, stateOf, worst } from './health.tsx';
import { head, tables } from './live.ts';
import { CallsPlot, LatencyPlot } from './plots.tsx';
import { href, span } from './route.ts';
import { useSteady } from './steady.ts';
import { Table } from './table.tsx';
import { Ago, Countdown, Since } from './times.tsx';
import { count, counted, failureText, latency, percent } from './words.ts';

/** All integrations, the worst first. */
export function Integrations() {
  const sorted = [...tables.integrations.all.value].sort(worst);
  const { rows, on } = useSteady(sorted);
  const out = rows.filter(({ circuit }) => circuit !== 'closed').length;
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Integrations</h1>
          <p class="dim">
            {out === 0
              ? `All ${count(rows.length)} are in service.`
              : `${out} of ${count(rows.length)} ${out === 1 ? 'is' : 'are'} out of service.`}
          </p>
        </div>
      </div>
      <section class="box" aria-label="Integrations" {...on}>
        {rows.length === 0 ? (
          <Empty title="No integration is known yet">
            Those of gateways that run on the database are shown here, and those with failures on record.
          </Empty>
        ) : (
          <Table
            columns={[
              { title: 'Integration' },
              { title: 'State' },
              { title: 'Next' },
              { title: 'In flight', isNumber: true },
              { title: 'Wait', isNumber: true },
              { title: 'Success', isNumber: true },
              { title: 'p95', isNumber: true },
              { title: 'Last error' },
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
  const row = tables.integrations.row(key);
  if (row === undefined) return null;
  const { probeAt, inFlight, waiting, report, lastError, cause } = row;
  const error = cause ?? (lastError && { kind: lastError.kind, message: lastError.error });
  return (
    <tr data-row>
      <td>
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
      <td class={`num ${isLow(report?.successRate) ? 'bad' : ''}`} data-l="Success">
        {percent(report?.successRate)}
      </td>
      <td class="num" data-l="p95">
        {report?.took === undefined ? '–' : latency(report.took.p95Ms)}
      </td>
      <td class="cut mono dim">
        {error !== undefined && `${error.kind === undefined ? '' : `${error.kind}: `}${error.message}`}
      </td>
    </tr>
  );
}

/** One integration: state and next probe, cause of the opening, how well it works, its tools. */
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
          {row.circuit === 'closed' || row.circuit === 'crashed' ? (
            <OrderButton order="isolate" name={name} of="integration" text="Isolate…" />
          ) : (
            <OrderButton order="reset" name={name} of="integration" text="Reset circuit…" />
          )}
          <OrderButton order="restart" name={name} of="integration" text="Restart…" />
        </div>
      </div>
      <Cause {...row} />
      <Figures report={row.report} />
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

function Now({ circuit, openedAt, probeAt, waiting, inFlight, runtimes }: IntegrationLine) {
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
      {probeAt !== undefined && (
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
  const { failures } = cause;
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
        {failures.length > 1 ? `${failures.length} attempts failed: ` : 'An attempt failed: '}
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

function Failure({ at, label, kind, message, session }: CountedFailure) {
  return (
    <tr>
      <td>
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

function Figures({ report }: { readonly report: ReportEntry | undefined }) {
  const { spanMs = 1 } = head.value ?? {};
  if (report === undefined) {
    return (
      <section class="box" aria-label="How well it works">
        <Empty title="No call has ended in this time">
          The figures of the last {span} come here within 10s of a call's end.
        </Empty>
      </section>
    );
  }
  const { took, firstChunk, successRate } = report;
  const first = (ms: number | undefined): string => (ms === undefined ? '' : `first chunk ${latency(ms)}`);
  return (
    <section class="box" aria-label="How well it works">
      <div class="sh">
        <h2>How well it works</h2>
        <span class="faint">
          last {span}, {counted(report.calls, 'call')}, {perMinute(report.calls, spanMs)} a minute
        </span>
      </div>
      <dl class="stats">
        <Figure name="Success" value={percent(successRate)} note="goal 99 %" bad={isLow(successRate)} />
        <Figure name="p50" value={took === undefined ? '–' : latency(took.p50Ms)} note={first(firstChunk?.p50Ms)} />
        <Figure name="p95" value={took === undefined ? '–' : latency(took.p95Ms)} note={first(firstChunk?.p95Ms)} />
        <Figure name="p99" value={took === undefined ? '–' : latency(took.p99Ms)} note={first(firstChunk?.p99Ms)} />
        <Figure name="Retried" value={count(report.retries)} note="further attempts" />
        <Figure name="Refused" value={count(report.refused)} note="before anything was sent" />
      </dl>
      <div class="plots">
        <CallsPlot steps={report.steps} />
        <LatencyPlot steps={report.steps} />
        <Kinds failures={report.failures} />
      </div>
    </section>
  );
}

function Kinds({ failures }: Pick<ReportEntry, 'failures'>) {
  const kinds = Object.entries(failures).sort(([, one], [, other]) => other - one);
  const most = Math.max(1, ...kinds.map(([, number]) => number));
  return (
    <div>
      <h3>Failures by kind</h3>
      {kinds.length === 0 && <p class="dim">None.</p>}
      {kinds.map(([kind, number]) => (
        <div key={kind} class="kind">
          <code>{kind}</code>
          <i style={{ width: `${Math.max(2, (number / most) * 100)}%` }} />
          <span class="num">{count(number)}</span>
        </div>
      ))}
    </div>
  );
}

function Tools({ tools }: ReportEntry) {
  return (
    <section class="box" aria-label="Tools">
      <div class="sh">
        <h2>Tools</h2>
        <span class="faint">last {span}</span>
      </div>
      <Table
        columns={[
          { title: 'Tool' },
          { title: 'Success', isNumber: true },
          { title: 'p95', isNumber: true },
          { title: 'Calls', isNumber: true },
          { title: 'Refused', isNumber: true },
          { title: 'Failures' },
        ]}
      >
        {tools.map(({ tool = '', successRate, took, calls, refused, failures }) => (
          <tr key={tool} data-row>
            <td>
              <b>
                <bdi>{tool}</bdi>
              </b>
            </td>
            <td class={`num ${isLow(successRate) ? 'bad' : ''}`} data-l="Success">
              {percent(successRate)}
            </td>
            <td class="num" data-l="p95">
              {took === undefined ? '–' : latency(took.p95Ms)}
            </td>
            <td class="num" data-l="Calls">
              {count(calls)}
            </td>
            <td class="num" data-l="Refused">
              {count(refused)}
            </td>
            <td class="dim">{failureText(failures)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}
