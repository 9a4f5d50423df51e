import { formatLatency } from '../../../src/policy/text/face.ts';
import type { ReportEntry } from '../../../src/policy/records/face.ts';
import { Box, Empty } from './box.tsx';
import { Effort, Figure, perMinute } from './health.tsx';
import { head } from './live.ts';
import { CallsPlot, LatencyPlot } from './plots.tsx';
import { span } from './route.ts';
import { type Column, Table } from './table.tsx';
import { count, counted, failureText, isLow, latency, percent } from './words.ts';

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
  const { calls, took, firstChunk, successRate, retries, refused, steps, failures } = report;
  const figure = (name: 'p50' | 'p95' | 'p99') => {
    const first = firstChunk?.[`${name}Ms`];
    return (
      <Figure
        name={name}
        value={latency(took?.[`${name}Ms`])}
        note={first === undefined ? '' : `first chunk ${formatLatency(first)}`}
      />
    );
  };
  return (
    <Box
      title="How well it works"
      note={`last ${span.value}, ${counted(calls, 'call')}, ${perMinute(calls, spanMs)} a minute`}
    >
      <dl class="stats">
        <Figure name="Success" value={percent(successRate)} note="goal 99 %" bad={isLow(successRate)} />
        {figure('p50')}
        {figure('p95')}
        {figure('p99')}
        <Effort retries={retries} refused={refused} />
      </dl>
      <div class="plots">
        <CallsPlot steps={steps} />
        <LatencyPlot steps={steps} />
        <Kinds failures={failures} />
      </div>
    </Box>
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
    <Box title="Tools" note={<>last {span}</>}>
      <Table columns={toolColumns} rows={tools} keyOf={({ tool = '' }) => tool} />
    </Box>
  );
}

const toolColumns: readonly Column<ReportEntry['tools'][number]>[] = [
  {
    title: 'Tool',
    cell: ({ tool }) => (
      <b>
        <bdi>{tool}</bdi>
      </b>
    ),
  },
  {
    title: 'Success',
    isNumber: true,
    look: ({ successRate }) => (isLow(successRate) ? 'bad' : ''),
    cell: ({ successRate }) => percent(successRate),
  },
  { title: 'p95', isNumber: true, cell: ({ took }) => latency(took?.p95Ms) },
  { title: 'Calls', isNumber: true, cell: ({ calls }) => count(calls) },
  { title: 'Refused', isNumber: true, cell: ({ refused }) => count(refused) },
  { title: 'Failures', look: 'dim', cell: ({ failures }) => failureText(failures) },
];
