import type { z } from 'zod';
import { type Finding, findingsOf } from './issues.ts';
import { nodeAt } from './keys.ts';
import { isPlainObject } from './layers.ts';
import { pathText } from './problems.ts';
import { configSchema } from './schema.ts';

type Path = readonly (string | number)[];
type Values = Readonly<Record<string, unknown>>;

/** A configuration that has passed the schema, and what was found wrong and taken out before. */
export interface Pruned {
  readonly parsed: z.output<typeof configSchema>;
  readonly findings: readonly Finding[];
  /** Those among them that say what nobody has said. */
  readonly missing: readonly Finding[];
}

/** Takes out what is wrong, so that the rest can be judged too. */
export function prune(value: Values): Pruned {
  let rest = value;
  const findings: Finding[] = [];
  let missing: readonly Finding[] | undefined;
  const tried = new Set<string>();
  for (;;) {
    const { error, data } = configSchema.safeParse(rest);
    if (data !== undefined) return { parsed: data, findings, missing: missing ?? [] };
    const found = findingsOf(error, rest);
    // Later ones are of what was taken out.
    missing ??= found.filter(({ what }) => what === 'missing');
    const places = found.map((finding) => pathText(placeOf(finding)));
    // What could not be taken out alone goes with its section.
    if (places.every((place) => tried.has(place))) {
      const fewer = withoutSections(rest, found);
      // A property that every object inherits cannot be taken out of any.
      if (Object.keys(fewer).length === Object.keys(rest).length) return { parsed: {}, findings, missing };
      rest = fewer;
    } else rest = found.reduce((each, finding) => (without(each, placeOf(finding), 0) ?? {}) as Values, rest);
    for (const place of places) tried.add(place);
    findings.push(...found);
  }
}

/** What misses something is of no use without it. */
function placeOf({ path, what }: Finding): Path {
  return what === 'missing' ? path.slice(0, -1) : path;
}

function without(value: unknown, path: Path, depth: number): unknown {
  const key = path[depth];
  if (key === undefined) return undefined;
  const isLast = depth + 1 === path.length;
  if (Array.isArray(value)) {
    // The others keep their places.
    const items = value as readonly unknown[];
    return items.map((item, index) =>
      index === key ? (isLast ? placeholder(path) : without(item, path, depth + 1)) : item,
    );
  }
  if (!isPlainObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
      if (name !== key) return [[name, each]];
      const inner = isLast ? emptied(path) : without(each, path, depth + 1);
      return inner === undefined ? [] : [[name, inner]];
    }),
  );
}

function placeholder(path: Path): unknown {
  return nodeAt(path)?.unit === 'ms' ? 1 : 'x';
}

/** A policy that others may start from is still there. */
function emptied(path: Path): unknown {
  return path.length === 3 && path[1] === 'presets' ? {} : undefined;
}

function withoutSections(value: Values, findings: readonly Finding[]): Values {
  return Object.fromEntries(Object.entries(value).filter(([name]) => findings.every(({ path }) => path[0] !== name)));
}
