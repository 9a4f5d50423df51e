/** Source of a value of the configuration. */
export type ConfigSource =
  | { readonly from: 'default' }
  | { readonly from: 'openclaw'; readonly file: string }
  | { readonly from: 'file'; readonly file: string }
  | { readonly from: 'environment'; readonly variable: string }
  | { readonly from: 'override' };

/** Problem with one value of the configuration. */
export interface ConfigProblem {
  /** The key, such as `policies.integrations.kb.attemptMs`; empty where the whole source is meant. */
  readonly path: string;
  /** The value as it may be shown: short, and without secrets. Undefined where there is none. */
  readonly value: string | undefined;
  /** Form that the value has to have. */
  readonly expected: string;
  readonly source: ConfigSource;
  /** Line and column of the key in a JSON file, from 1. */
  readonly at?: { readonly line: number; readonly column: number } | undefined;
  /** All of it in one line. */
  readonly message: string;
}

/** The configuration is wrong: it says everything that is, a line each. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(({ message }) => message).join('\n'));
    this.problems = problems;
  }
}

/** A source as it is named to people. */
export function sourceText(source: ConfigSource): string {
  switch (source.from) {
    case 'default':
      return 'default';
    case 'openclaw':
    case 'file':
      return source.file;
    case 'environment':
      return source.variable;
    case 'override':
      return 'overrides';
  }
}
