import { addFigures, type CallTotals, noFigures } from './callFigures.ts';
import { atMost, countOf, estimatedSumMs, type LatencyCounts } from './latencies.ts';

/** Figures that metrics are made of. */
export interface MetricsSource {
  /** Totals of all time that the store has seen: they never go down. */
  readonly totals: readonly CallTotals[];
  readonly integrations: readonly {
    readonly integration: string;
    readonly circuit: (typeof circuits)[number];
    /** Number in live runtimes; undefined where none knows it. */
    readonly inFlight?: number | undefined;
    readonly waiting?: number | undefined;
    readonly pendingLong?: number | undefined;
    /** The circuits of its tools that are not closed: at most 1,000, and those that are isolated. @defaultValue none */
    readonly tools?: readonly { readonly tool: string; readonly circuit: (typeof circuits)[number] }[] | undefined;
  }[];
  /** Stores of live runtimes; undefined where none is known. */
  readonly stores?: { readonly degraded: number; readonly waiting: number } | undefined;
  readonly openAlerts: readonly { readonly integration: string; readonly because: string }[];
}

export interface MetricSample {
  /** Suffix of a histogram: `_bucket`, `_sum`, `_count`. @defaultValue '' */
  readonly suffix?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly samples: readonly MetricSample[];
}

const circuits = ['closed', 'open', 'half-open', 'isolated', 'crashed'] as const;

/** Upper bounds of the histograms: 1 ms, and each twice the one before, up to 17 min. They are bounds of what is counted, so that no call is between. */
const bounds = Array.from({ length: 21 }, (_, doublings) => ({
  ms: 2 ** doublings,
  le: String(2 ** doublings / 1000),
}));

type About = readonly [name: string, type: MetricFamily['type'], help: string];
type Samples<T> = (of: T) => readonly MetricSample[];

/** The names of what is counted, each of integrations as a whole (`unwedge_…`) and of their tools (`unwedge_tool_…`), so that sums count nothing twice. */
const ofCalls: readonly (readonly [...About, Samples<CallTotals>])[] = [
  [
    'calls_total',
    'counter',
    'Calls that ended after something was sent, by how: success, or the kind of the failure.',
    results,
  ],
  ['fallbacks_total', 'counter', 'Failed calls that a fallback answered.', (each) => one(each, each.fellBack)],
  ['refusals_total', 'counter', 'Calls that ended before anything was sent.', (each) => one(each, each.refused)],
  ['retries_total', 'counter', 'Further attempts of calls.', (each) => one(each, each.retries)],
  [
    'restarts_total',
    'counter',
    'Returns of what is behind an integration after it was lost.',
    (each) => one(each, each.restarts),
  ],
  ['call_duration_seconds', 'histogram', 'How long calls took that succeeded.', (each) => histogram(each, each.took)],
  [
    'first_chunk_seconds',
    'histogram',
    'How long it was to the first chunk of streams.',
    (each) => histogram(each, each.firstChunk),
  ],
];

const ofIntegrations: readonly (readonly [...About, Samples<MetricsSource['integrations'][number]>])[] = [
  ['circuit_state', 'gauge', 'Whether the circuit is in this state: 1, else 0.', states],
  ['calls_in_flight', 'gauge', 'Attempts in flight, in the live runtimes.', (each) => known(each, each.inFlight)],
  [
    'calls_waiting',
    'gauge',
    'Accepted calls without an attempt in flight, in the live runtimes.',
    (each) => known(each, each.waiting),
  ],
  [
    'calls_pending_long',
    'gauge',
    'Pending calls past half of a limit that ends them, in the live runtimes.',
    (each) => known(each, each.pendingLong),
  ],
];

const toolCircuitHelp =
  'Whether the circuit of a tool, beside that of its integration, is in this state. Tools whose circuits are closed are left out.';

/** The names of all there are. */
export const metricNames: readonly string[] = [
  ...ofCalls.flatMap(([name]) => (name === 'restarts_total' ? [name] : [name, `tool_${name}`])),
  ...ofIntegrations.map(([name]) => name),
  'tool_circuit_state',
  ...['alert_open', 'stores_degraded', 'store_rows_waiting'],
].map((name) => `unwedge_${name}`);

/** All that is told of, by name. Families without a sample are left out. */
export function metricsOf({ totals, integrations, openAlerts, stores }: MetricsSource): readonly MetricFamily[] {
  const whole = totals.filter(({ tool }) => tool === undefined);
  const tools = totals.filter(({ tool }) => tool !== undefined);
  const alerts = openAlerts.map(({ integration, because }) => ({ labels: { integration, because }, value: 1 }));
  return [
    ...ofCalls.map(([name, type, help, samples]) => ({ name, type, help, samples: whole.flatMap(samples) })),
    ...ofCalls.map(([name, type, help, samples]) => ({
      name: `tool_${name}`,
      type,
      help: `The same of single tools. ${help}`,
      samples: name === 'restarts_total' ? [] : tools.flatMap(samples),
    })),
    ...ofIntegrations.map(([name, type, help, samples]) => ({
      name,
      type,
      help,
      samples: integrations.flatMap(samples),
    })),
    {
      ...{ name: 'tool_circuit_state', type: 'gauge' as const, help: toolCircuitHelp },
      samples: integrations.flatMap(toolStates),
    },
    { name: 'alert_open', type: 'gauge' as const, help: 'Open alerts, by what raised them.', samples: alerts },
    {
      ...{ name: 'stores_degraded', type: 'gauge' as const, help: 'Live runtimes whose store cannot be written.' },
      samples: unlabelled(stores?.degraded),
    },
    {
      ...{ name: 'store_rows_waiting', type: 'gauge' as const },
      help: 'Rows that wait in the memory of runtimes whose store cannot be written, and end with them.',
      samples: unlabelled(stores?.waiting),
    },
  ]
    .filter(({ samples }) => samples.length > 0)
    .map((family) => ({ ...family, name: `unwedge_${family.name}` }));
}

/** The same with other names, such as those without secrets: what then has one name is one. */
export function renamed(source: MetricsSource, name: (text: string) => string): MetricsSource {
  const totals = new Map<string, CallTotals>();
  for (const each of source.totals) {
    const integration = name(each.integration);
    const tool = each.tool === undefined ? undefined : name(each.tool);
    const key = JSON.stringify([integration, tool]);
    const { integration: _, tool: __, ...figures } = each;
    totals.set(key, { integration, tool, ...addFigures(totals.get(key) ?? noFigures, figures) });
  }
  const integrations = source.integrations.map((each) => ({
    ...{ ...each, integration: name(each.integration) },
    ...(each.tools !== undefined && { tools: toolsOf(each.tools, name) }),
  }));
  const openAlerts = source.openAlerts.map((each) => ({ ...each, integration: name(each.integration) }));
  return {
    ...{ totals: [...totals.values()], stores: source.stores },
    integrations: [...new Map(integrations.map((each) => [each.integration, each])).values()],
    openAlerts: [...new Map(openAlerts.map((each) => [`${each.because} ${each.integration}`, each])).values()],
  };
}

function labelsOf({ integration, tool }: Pick<CallTotals, 'integration' | 'tool'>): Record<string, string> {
  return tool === undefined ? { integration } : { integration, tool };
}

function one(each: CallTotals, value: number): readonly MetricSample[] {
  return [{ labels: labelsOf(each), value }];
}

function results(each: CallTotals): readonly MetricSample[] {
  return Object.entries({ success: each.succeeded, ...each.failed }).map(([result, value]) => ({
    labels: { ...labelsOf(each), result },
    value,
  }));
}

function histogram(each: CallTotals, counts: LatencyCounts): readonly MetricSample[] {
  const labels = labelsOf(each);
  const count = countOf(counts);
  if (count === 0) return [];
  const { integration, tool } = each;
  // Written out: of thousands of integrations, copies of `labels` took a quarter of the time of all metrics.
  const bucket = (le: string) => (tool === undefined ? { integration, le } : { integration, tool, le });
  return [
    ...bounds.map(({ ms, le }) => ({ suffix: '_bucket', labels: bucket(le), value: atMost(counts, ms) })),
    { suffix: '_bucket', labels: bucket('+Inf'), value: count },
    { suffix: '_sum', labels, value: estimatedSumMs(counts) / 1000 },
    { suffix: '_count', labels, value: count },
  ];
}

function known({ integration }: { readonly integration: string }, value: number | undefined): readonly MetricSample[] {
  return value === undefined ? [] : [{ labels: { integration }, value }];
}

function unlabelled(value: number | undefined): readonly MetricSample[] {
  return value === undefined ? [] : [{ labels: {}, value }];
}

function states({ integration, circuit }: MetricsSource['integrations'][number]): readonly MetricSample[] {
  return circuits.map((state) => ({ labels: { integration, state }, value: state === circuit ? 1 : 0 }));
}

function toolStates({ integration, tools = [] }: MetricsSource['integrations'][number]): readonly MetricSample[] {
  return tools.flatMap(({ tool, circuit }) =>
    circuits
      .filter((state) => state !== 'closed' && state !== 'crashed')
      .map((state) => ({ labels: { integration, tool, state }, value: state === circuit ? 1 : 0 })),
  );
}

function toolsOf(
  tools: NonNullable<MetricsSource['integrations'][number]['tools']>,
  name: (text: string) => string,
): MetricsSource['integrations'][number]['tools'] {
  return [...new Map(tools.map(({ tool, circuit }) => [name(tool), { tool: name(tool), circuit }])).values()];
}
