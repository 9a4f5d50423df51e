/** Ratios of an earlier run, as they are kept in `bench/baseline.json`. */
export interface Baseline {
  /** The version of Node it was recorded on. */
  readonly node: string;
  /** By the name of the guard. */
  readonly ratios: Readonly<Record<string, number>>;
}

/**
 * Reads a recorded baseline.
 * @param path - of the file, for errors.
 * @throws RangeError of one line that names the file and what is wrong with it.
 */
export function parseBaseline(path: string, text: string): Baseline {
  const refuse = (what: string): never => {
    throw new RangeError(`${path}: ${what}; record it anew with \`npm run bench -- --record\``);
  };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    refuse('expected JSON');
  }
  if (!isObject(value)) return refuse('expected an object');
  const { node, ratios } = value;
  if (typeof node !== 'string' || majorOf(node) === undefined) {
    return refuse(`expected \`node\` to be a version such as "v20.19.0", got ${JSON.stringify(node)}`);
  }
  if (!isObject(ratios)) return refuse('expected `ratios` to be an object');
  const checked = Object.entries(ratios).map(([name, ratio]): [string, number] =>
    typeof ratio === 'number' && ratio > 0
      ? [name, ratio]
      : refuse(`expected \`${name}\` to be a number above 0, got ${JSON.stringify(ratio)}`),
  );
  return { node, ratios: Object.fromEntries(checked) };
}

/** The text of a baseline: names in the order of the guards, three digits that count. */
export function formatBaseline({ node, ratios }: Baseline): string {
  const rounded = Object.entries(ratios).map(([name, ratio]) => [name, Number(ratio.toPrecision(3))]);
  return `${JSON.stringify({ node, ratios: Object.fromEntries(rounded) as Record<string, number> }, undefined, 2)}\n`;
}

/** The major version, of `v20.19.0` 20; undefined when it is no version. */
export function majorOf(version: string): number | undefined {
  const major = /^v(\d+)\./.exec(version)?.[1];
  return major === undefined ? undefined : Number(major);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
