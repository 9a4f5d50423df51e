import type { ReportStep } from '../../policy/callReport.ts';

const width = 120;
const height = 24;
const full = 20;

/** Shows how the calls of each step ended: the part that failed in red. */
export function SuccessBars({ steps }: { readonly steps: readonly ReportStep[] }) {
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
export function Line({ values }: { readonly values: readonly (number | undefined)[] }) {
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
