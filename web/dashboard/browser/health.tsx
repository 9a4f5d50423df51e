import type { ReportStep } from '../../../src/policy/callReport.ts';
import { formatLatency } from '../../../src/policy/duration.ts';
import type { IntegrationLine } from '../snapshot.ts';
import { State } from './glyph.tsx';
import { head } from './live.ts';
import { href, span } from './route.ts';
import { useSteady } from './steady.ts';
import { successOf } from './success.ts';
import { tables } from './tables.ts';
import { count, failureText, isLow, percent } from './words.ts';

/** Shows how well the calls work: all together, then each integration, the worst first. */
export function Health() {
  const { total, spanMs = 1 } = head.value ?? {};
  return (
    <section class="box" aria-label="Health">
      <div class="sh">
        <h2>Health</h2>
        <span class="faint">last {span}, worst first</span>
      </div>
      <dl class="stats">
        <Figure
          name="Success"
          value={percent(total?.successRate)}
          note={isLow(total?.successRate) ? 'below 99 %' : ''}
          bad={isLow(total?.successRate)}
        />
        <Figure
          name="p95"
          value={total?.took === undefined ? '–' : formatLatency(total.took.p95Ms)}
          note={total?.took === undefined ? '' : `p50 ${formatLatency(total.took.p50Ms)}`}
        />
        <Figure
          name="Calls"
          value={count(total?.calls ?? 0)}
          note={`${perMinute(total?.calls ?? 0, spanMs)} a minute`}
        />
        <InFlight />
        <Figure name="Retried" value={count(total?.retries ?? 0)} note="further attempts" />
        <Figure name="Refused" value={count(total?.refused ?? 0)} note="before anything was sent" />
      </dl>
      <div class="mult hd" aria-hidden="true">
        <span>Integration</span>
        <span class="m">
          <i>Success</i>
        </span>
        <span class="m">
          <i>p95</i>
        </span>
        <span class="m">
          <i>Calls</i>
        </span>
        <span>Failures</span>
      </div>
      <HealthRows />
    </section>
  );
}

export function perMinute(calls: number, spanMs: number): string {
  const rate = calls / (spanMs / 60_000);
  return rate >= 10 ? count(Math.round(rate)) : rate.toFixed(rate >= 1 || rate === 0 ? 0 : 2);
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly bad?: boolean;
}

export function Figure({ name, value, note, bad = false }: FigureProps) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <b class={bad ? 'bad' : ''}>{value}</b>
      </dd>
      <dd>{note}</dd>
    </div>
  );
}

function InFlight() {
  const rows = tables.integrations.all.value;
  const sum = (figure: 'inFlight' | 'waiting'): number => rows.reduce((total, row) => total + row[figure], 0);
  return <Figure name="In flight" value={count(sum('inFlight'))} note={`${count(sum('waiting'))} wait`} />;
}

function HealthRows() {
  const sorted = [...tables.integrations.all.value].sort(worst);
  const { keys, on } = useSteady(sorted.map(({ key }) => key));
  if (keys.length === 0) return <p class="in dim">No integration is known yet.</p>;
  return (
    <div {...on}>
      {keys.map((key) => (
        <HealthRow key={key} of={key} />
      ))}
    </div>
  );
}

const severity = ['isolated', 'crashed', 'open', 'half-open', 'closed'];

/** Puts those out of service first, then sorts by rate of success. */
export function worst(one: IntegrationLine, other: IntegrationLine): number {
  const rank = ({ circuit }: IntegrationLine): number => severity.indexOf(circuit);
  const rate = ({ report }: IntegrationLine): number => report?.successRate ?? 2;
  return rank(one) - rank(other) || rate(one) - rate(other) || (one.key < other.key ? -1 : 1);
}

/** The state of an integration in one word. */
export function stateOf({ circuit, state }: IntegrationLine): string {
  return circuit === 'closed' ? (state ?? unseen()) : circuit;
}

/** The state of what no live gateway has: whether one that does not answer has it, nobody knows. */
export function unseen(): string {
  return tables.runtimes.all.value.some(({ isFrozen }) => isFrozen === true) ? 'not known' : 'not live';
}

function HealthRow({ of: key }: { readonly of: string }) {
  const row = tables.integrations.row(key);
  if (row === undefined) return null;
  const { report } = row;
  const steps = report?.steps ?? [];
  const success = successOf(row);
  return (
    <div class="mult" data-row>
      <div>
        <a href={href('integrations', key)}>
          <b>
            <bdi>{key}</bdi>
          </b>
        </a>
        <br />
        <State of={stateOf(row)} />
      </div>
      <div class="m" data-l="Success">
        <span class={`nw ${success.isBad ? 'bad' : ''}`}>{success.text}</span>
        <SuccessBars steps={steps} />
      </div>
      <div class="m" data-l="p95">
        <span class="nw">{report?.took === undefined ? '–' : formatLatency(report.took.p95Ms)}</span>
        <Line values={steps.map(({ took }) => took?.p95Ms)} />
      </div>
      <div class="m" data-l="Calls">
        <span class="nw">{count(report?.calls ?? 0)}</span>
        <Line values={steps.map(({ calls }) => calls)} />
      </div>
      <span class="faint">{failureText(report?.failures ?? {})}</span>
    </div>
  );
}

const width = 120;
const height = 24;
const full = 20;

/** Shows how the calls of each step ended: the part that failed in red. */
function SuccessBars({ steps }: { readonly steps: readonly ReportStep[] }) {
  const step = width / Math.max(1, steps.length);
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {steps.map(({ calls, successRate = 1 }, index) => {
        const x = index * step;
        if (calls === 0) return <rect key={index} class="z" x={x} y={height - 1.5} width={step * 0.8} height={1.5} />;
        // Few failures are to be seen too.
        const failed = successRate === 1 ? 0 : Math.max(3, (1 - successRate) * full);
        return (
          <g key={index}>
            <rect class="s" x={x} y={height - full} width={step * 0.8} height={full - failed} />
            {failed > 0 && <rect class="f" x={x} y={height - failed} width={step * 0.8} height={failed} />}
          </g>
        );
      })}
    </svg>
  );
}

/** A line with a scale of its own; nothing where there are no values. */
function Line({ values }: { readonly values: readonly (number | undefined)[] }) {
  if (values.length < 2) return null;
  const most = Math.max(1, ...values.map((value) => value ?? 0));
  const at = (index: number): number => (index / (values.length - 1)) * width;
  const points = values.map(
    (value = 0, index) => `${at(index).toFixed(1)} ${(height - 2 - (value / most) * (height - 6)).toFixed(1)}`,
  );
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="ar" d={`M0 ${height} L${points.join(' L')} L${width} ${height} Z`} />
      <path d={`M${points.join(' L')}`} />
    </svg>
  );
}
