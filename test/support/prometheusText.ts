import { createRequire } from 'node:module';

export interface PrometheusFamily {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly metrics: readonly {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly buckets?: Readonly<Record<string, string>>;
  }[];
}

const parseLines = createRequire(import.meta.url)('parse-prometheus-text-format') as (
  text: string,
) => PrometheusFamily[];

/** The families of a text in the format 0.0.4, by name. */
export function parsePrometheus(text: string): Readonly<Record<string, PrometheusFamily>> {
  // The parser leaves out the last line, whatever it is.
  return Object.fromEntries(parseLines(`${text}# A comment\n`).map((family) => [family.name, family]));
}
