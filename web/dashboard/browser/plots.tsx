import { useEffect, useRef } from 'preact/hooks';
import uPlot, { type Options } from 'uplot';
import type { ReportStep } from '../../../src/policy/records/face.ts';
import { formatLatency } from '../../../src/policy/text/face.ts';

const height = 150;

/** Calls of each step: those that succeeded below those that failed. */
export function CallsPlot({ steps }: { readonly steps: readonly ReportStep[] }) {
  const succeeded = steps.map(({ calls, successRate = 1 }) => Math.round(calls * successRate));
  return (
    <figure>
      <h3>Calls</h3>
      <p class="faint keys">
        <i class="sw s" /> succeeded <i class="sw f" /> failed
      </p>
      <Plot
        data={[steps.map(({ from }) => from / 1000), steps.map(({ calls }) => calls), succeeded]}
        label={`Calls over time, ${steps.reduce((sum, { calls }) => sum + calls, 0)} in all`}
        options={(colour) => ({
          series: [{}, bars(colour('--bad')), bars(colour('--plot'))],
          axes: [timeAxis(colour), valueAxis(colour, String)],
          scales: { y: { range: (_plot, _least, most) => [0, Math.max(1, most * 1.1)] } },
        })}
      />
    </figure>
  );
}

/** Shows how long the calls of each step took. */
export function LatencyPlot({ steps }: { readonly steps: readonly ReportStep[] }) {
  if (!steps.some(({ took }) => took !== undefined)) {
    return (
      <figure>
        <h3>Duration</h3>
        <p class="dim">No call has succeeded in this time.</p>
      </figure>
    );
  }
  const isShort = steps.filter(({ took }) => took !== undefined).length < 3;
  const of = (name: 'p50Ms' | 'p95Ms' | 'p99Ms') => steps.map(({ took }) => took?.[name] ?? null);
  return (
    <figure>
      <h3>Duration</h3>
      <p class="faint keys">p50 solid, p95 dashed, p99 dotted; logarithmic</p>
      <Plot
        data={[steps.map(({ from }) => from / 1000), of('p50Ms'), of('p95Ms'), of('p99Ms')]}
        label="Duration of successful calls over time"
        options={(colour) => ({
          series: [
            {},
            line(colour('--text'), isShort),
            line(colour('--text2'), isShort, [6, 4]),
            line(colour('--text3'), isShort, [2, 3]),
          ],
          axes: [timeAxis(colour), valueAxis(colour, formatLatency)],
          scales: {
            y: {
              distr: 3,
              range: (_plot, least, most) => [Math.max(1, (least || 1) / 1.5), Math.max(10, (most || 10) * 1.5)],
            },
          },
        })}
      />
    </figure>
  );
}

/** As uPlot takes it. */
type Series = [times: number[], ...values: (number | null)[][]];

type Colour = (token: string) => string;

interface PlotProps {
  /** The times in s, then the values of each series. */
  readonly data: Series;
  /** Said in place of the picture. */
  readonly label: string;
  readonly options: (colour: Colour) => Pick<Options, 'series' | 'axes' | 'scales'>;
}

function Plot({ data, label, options }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const shown = useRef(data);
  shown.current = data;
  useEffect(() => {
    const { current: element } = place;
    if (element === null) return undefined;
    const draw = (): void => {
      plot.current?.destroy();
      const style = getComputedStyle(element);
      // A canvas knows no light-dark(): a colour that is in use is resolved.
      const colour: Colour = (token) => {
        element.style.color = `var(${token})`;
        const { color } = style;
        element.style.color = '';
        return color;
      };
      const whole: Options = {
        ...{ width: Math.max(120, element.clientWidth), height, legend: { show: false }, cursor: { show: false } },
        ...options(colour),
      };
      plot.current = new uPlot(whole, shown.current, element);
    };
    draw();
    const dark = matchMedia('(prefers-color-scheme: dark)');
    const resized = new ResizeObserver(() =>
      plot.current?.setSize({ width: Math.max(120, element.clientWidth), height }),
    );
    resized.observe(element);
    addEventListener('themechange', draw);
    dark.addEventListener('change', draw);
    return () => {
      resized.disconnect();
      removeEventListener('themechange', draw);
      dark.removeEventListener('change', draw);
      plot.current?.destroy();
    };
  }, []);
  useEffect(() => {
    plot.current?.setData(data);
  }, [JSON.stringify(data)]);
  return <div ref={place} class="plot" role="img" aria-label={label} />;
}

function bars(fill: string): Options['series'][number] {
  const paths = uPlot.paths.bars?.({ size: [0.8, 40] });
  return { fill, stroke: fill, width: 0, points: { show: false }, ...(paths !== undefined && { paths }) };
}

/** @param isShort - there are too few values to make a line that is seen. */
function line(stroke: string, isShort: boolean, dash: number[] = []): Options['series'][number] {
  return { stroke, dash, width: 1.5, spanGaps: true, points: { show: isShort, size: 6, fill: stroke } };
}

const font = '11px system-ui, sans-serif';

function timeAxis(colour: Colour): NonNullable<Options['axes']>[number] {
  const time = (at: number, range: number): string => {
    const date = new Date(at * 1000);
    return range > 2 * 86_400
      ? date.toLocaleDateString('en-CA').slice(5)
      : date.toLocaleTimeString('en-GB').slice(0, 5);
  };
  return {
    ...{ stroke: colour('--text3'), font, size: 24, grid: { show: false }, ticks: { show: false }, space: 70 },
    values: (plot, splits) => {
      const { min = 0, max = 0 } = plot.scales['x'] ?? {};
      return splits.map((at) => time(at, (max ?? 0) - (min ?? 0)));
    },
  };
}

function valueAxis(colour: Colour, text: (value: number) => string): NonNullable<Options['axes']>[number] {
  return {
    ...{ stroke: colour('--text3'), font, size: 48, space: 36, ticks: { show: false } },
    grid: { stroke: colour('--line'), width: 1 },
    values: (_plot, splits) => splits.map((value) => (value === null ? '' : text(value))),
  };
}
