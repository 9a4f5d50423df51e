import { formatLatency } from '../../../src/policy/duration.ts';
import type { ReportEntry } from '../../../src/policy/callReport.ts';
import { Empty } from './empty.tsx';
import { Figure, perMinute } from './health.tsx';
import { head } from './live.ts';
import { CallsPlot, LatencyPlot } from './plots.tsx';
import { span } from './route.ts';
import { Table } from './table.tsx';
import { count, counted, failureText, isLow, percent } from './words.ts';

/** Shows how well the calls of an integration work. */
export function IntegrationFigures({ report }: { readonly report: ReportEntry | undefined }) {
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
  const first = (ms: number | undefined): string => (ms === undefined ? '' : `first chunk ${formatLatency(ms)}`);
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
        <Figure
          name="p50"
          value={took === undefined ? '–' : formatLatency(took.p50Ms)}
          note={first(firstChunk?.p50Ms)}
        />
        <Figure
          name="p95"
          value={took === undefined ? '–' : formatLatency(took.p95Ms)}
          note={first(firstChunk?.p95Ms)}
        />
        <Figure
          name="p99"
          value={took === undefined ? '–' : formatLatency(took.p99Ms)}
          note={first(firstChunk?.p99Ms)}
        />
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

/** Shows how well each of its tools works. */
export function Tools({ tools }: ReportEntry) {
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
              {took === undefined ? '–' : formatLatency(took.p95Ms)}
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
