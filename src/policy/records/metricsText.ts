import type { MetricFamily, MetricSample } from './metrics.ts';

/** Metrics as the body of an answer. */
export interface MetricsBody {
  readonly text: string;
  /** Its header `Content-Type`. */
  readonly contentType: string;
}

/** The families as Prometheus reads them, in the text format 0.0.4. */
export function metricsText(families: readonly MetricFamily[]): string {
  return families
    .flatMap(({ name, type, help, samples }) => [
      `# HELP ${name} ${help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')}\n`,
      `# TYPE ${name} ${type}\n`,
      ...samples.map((sample) => sampleLine(name, sample)),
    ])
    .join('');
}

/** The same in OpenMetrics 1.0.0: a counter is called without the `_total` of its samples, and nothing follows the end. */
export function openMetricsText(families: readonly MetricFamily[]): string {
  const lines = families.flatMap(({ name, type, help, samples }) => {
    const family = type === 'counter' ? name.replace(/_total$/, '') : name;
    return [
      `# TYPE ${family} ${type}\n`,
      `# HELP ${family} ${help.replace(/["\\\n]/g, escaped)}\n`,
      ...samples.map((sample) => sampleLine(name, sample)),
    ];
  });
  return `${lines.join('')}# EOF\n`;
}

/** In the format that is asked for by a header `Accept`; else in that which everybody reads. */
export function metricsBody(families: readonly MetricFamily[], accept: string | undefined): MetricsBody {
  const asked = (accept ?? '').toLowerCase();
  const [open, plain] = [weightOf(asked, 'application/openmetrics-text'), weightOf(asked, 'text/plain')];
  return open > 0 && open >= plain
    ? { text: openMetricsText(families), contentType: 'application/openmetrics-text; version=1.0.0; charset=utf-8' }
    : { text: metricsText(families), contentType: 'text/plain; version=0.0.4; charset=utf-8' };
}

/** The largest weight that a header `Accept` gives a type by its name. */
function weightOf(accept: string, type: string): number {
  const weights = accept
    .split(',')
    .map((each) => each.split(';').map((part) => part.trim()))
    .filter(([name]) => name === type)
    .map((parts) => Number(parts.find((part) => part.startsWith('q='))?.slice(2) ?? 1));
  return Math.max(0, ...weights.filter((weight) => !Number.isNaN(weight)));
}

function sampleLine(name: string, { suffix = '', labels, value }: MetricSample): string {
  const pairs = Object.entries(labels).map(([label, text]) => `${label}="${text.replace(/["\\\n]/g, escaped)}"`);
  return `${name}${suffix}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${value}\n`;
}

function escaped(character: string): string {
  return character === '\n' ? '\\n' : `\\${character}`;
}
