import type { ReportStep } from '../../../src/policy/records/face.ts';
import { formatLatency } from '../../../src/policy/text/face.ts';
import type { IntegrationLine } from '../snapshot.ts';
import { Box, Titled } from './box.tsx';
import { State } from './glyph.tsx';
import { head, tables } from './live.ts';
import { span } from './route.ts';
import { useSteady } from './steady.ts';
import { count, failureText, isLow, latency, percent, successOf } from './words.ts';

/** Shows how well the calls work: all together, then each integration, the worst first. */
export function Health() {
  const { total, spanMs = 1 } = head.value ?? {};
  const { calls = 0, took, successRate, retries = 0, refused = 0 } = total ?? {};
  return (
    <Box title="Health" note={<>last {span}, worst first</>}>
      <dl class="stats">
        <Figure
          name="Success"
          value={percent(successRate)}
          note={isLow(successRate) ? 'below 99 %' : ''}
          bad={isLow(successRate)}
        />
        <Figure name="p95" value={latency(took?.p95Ms)} note={took && `p50 ${formatLatency(took.p50Ms)}`} />
        <Figure name="Calls" value={count(calls)} note={`${perMinute(calls, spanMs)} a minute`} />
        <InFlight />
        <Effort retries={retries} refused={refused} />
      </dl>
      <div class="mult hd" aria-hidden="true">
        <span>Integration</span>
        {['Success', 'p95', 'Calls'].map((figure) => (
          <span key={figure} class="m">
            <i>{figure}</i>
          </span>
        ))}
        <span>Failures</span>
      </div>
      <HealthRows />
    </Box>
  );
}

export function perMinute(calls: number, spanMs: number): string {
  const rate = calls / (spanMs / 60_000);
  return rate >= 10 ? count(Math.round(rate)) : rate.toFixed(rate >= 1 || rate === 0 ? 0 : 2);
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string | undefined;
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

/** Shows calls that took more than one attempt, or none. */
export function Effort({ retries, refused }: { readonly retries: number; readonly refused: number }) {
  return (
    <>
      <Figure name="Retried" value={count(retries)} note="further attempts" />
      <Figure name="Refused" value={count(refused)} note="before anything was sent" />
    </>
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
        <Titled view="integrations" name={key} />
        <br />
        <State of={stateOf(row)} />
      </div>
      <div class="m" data-l="Success">
        <span class={`nw ${success.isBad ? 'bad' : ''}`}>{success.text}</span>
        <SuccessBars steps={steps} />
      </div>
      <div class="m" data-l="p95">
        <span class="nw">{latency(report?.took?.p95Ms)}</span>
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
