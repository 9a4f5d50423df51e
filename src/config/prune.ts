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
    } else rest = (without(rest, cutsAt(found.map(placeOf)), []) ?? {}) as Values;
    for (const place of places) tried.add(place);
    findings.push(...found);
  }
}

/** What misses something is of no use without it. */
function placeOf({ path, what }: Finding): Path {
  return what === 'missing' ? path.slice(0, -1) : path;
}

/** What is taken out below a place; `all` where the place itself is. */
type Cut = Map<string | number, Cut> | 'all';

/** All places together, so that a configuration is gone through once, however much of it is wrong. */
function cutsAt(paths: readonly Path[]): Cut {
  const root: Cut = new Map();
  if (paths.some((path) => path.length === 0)) return 'all';
  for (const path of paths) {
    let cut: Cut = root;
    for (const [depth, key] of path.entries()) {
      const inner: Cut | undefined = cut.get(key);
      if (inner === 'all') break;
      if (depth + 1 === path.length) {
        cut.set(key, 'all');
        break;
      }
      const next: Exclude<Cut, 'all'> = inner ?? new Map<string | number, Cut>();
      cut.set(key, next);
      cut = next;
    }
  }
  return root;
}

function without(value: unknown, cut: Cut, path: Path): unknown {
  if (cut === 'all') return undefined;
  if (Array.isArray(value)) {
    // The others keep their places.
    return (value as readonly unknown[]).map((item, index) => {
      const inner = cut.get(index);
      if (inner === undefined) return item;
      return inner === 'all' ? placeholder([...path, index]) : without(item, inner, [...path, index]);
    });
  }
  if (!isPlainObject(value)) return undefined;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]): [string, unknown][] => {
      const inner = cut.get(name);
      if (inner === undefined) return [[name, each]];
      const rest = inner === 'all' ? emptied([...path, name]) : without(each, inner, [...path, name]);
      return rest === undefined ? [] : [[name, rest]];
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
