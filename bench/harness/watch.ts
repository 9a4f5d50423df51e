import { type Baseline } from './baseline.ts';
import { compare, type Finding, type Guard, nameOf, ratioOfGuard } from './guard.ts';
import { type Figure, runSuite, type RunOptions } from './rounds.ts';
import type { Suite } from './suite.ts';

/** How guards are measured. */
export interface WatchOptions extends Omit<RunOptions, 'quick' | 'only'> {
  readonly loadSuite: (name: string) => Promise<Suite>;
}

/** Subjects of guards that are not installed. */
export async function missingFor(
  guards: readonly Guard[],
  load: (name: string) => Promise<Suite>,
): Promise<readonly string[]> {
  const suites = await Promise.all([...new Set(guards.map(({ suite }) => suite))].map(load));
  const away = new Set(suites.flatMap(({ missing = [] }) => missing));
  const subjects = guards.flatMap(({ of, over }) => [of.subject, over.subject]);
  return [...new Set(subjects.filter((subject) => away.has(subject)))];
}

/** Measures what the guards need and no more, each suite by itself. @returns ratios by the name of the guard, where it could be measured */
export async function measureGuards(
  guards: readonly Guard[],
  options: WatchOptions,
): Promise<ReadonlyMap<string, number>> {
  const ratios = new Map<string, number>();
  for (const name of new Set(guards.map(({ suite }) => suite))) {
    const suite = await options.loadSuite(name);
    const away = new Set(suite.missing);
    const able = guards.filter(
      (each) => each.suite === name && !away.has(each.of.subject) && !away.has(each.over.subject),
    );
    const [often, once] = [able.filter((guard) => guard.once !== true), able.filter((guard) => guard.once === true)];
    const figures = [
      ...(await figuresFor(suite, often, options)),
      ...(await figuresFor(suite, once, { ...options, rounds: 1 })),
    ];
    for (const guard of able) {
      const ratio = ratioOfGuard(guard, figures);
      if (ratio !== undefined) ratios.set(nameOf(guard), ratio);
    }
  }
  return ratios;
}

function figuresFor(suite: Suite, guards: readonly Guard[], options: WatchOptions): Promise<Figure[]> {
  const needed = new Set(guards.flatMap(({ of, over }) => [of, over]).map((name) => keyOf(name.subject, name.case)));
  return runSuite(suite, { ...options, quick: false, only: (subject, of) => needed.has(keyOf(subject, of)) });
}

const keyOf = (subject: string, of: string): string => JSON.stringify([subject, of]);

/** How often what seems to have grown is measured again. */
const mostRepeats = 4;

/**
 * Compares ratios with what was recorded. What seems to have grown is measured again, a few times, and the best counts: a machine that was
 * busy with something else is seldom so with the same side each time, and what has really grown stays so.
 */
export async function checkGuards(
  guards: readonly Guard[],
  baseline: Baseline,
  options: WatchOptions & { readonly node: string },
): Promise<readonly Finding[]> {
  const best = new Map(await measureGuards(guards, options));
  const judge = (guard: Guard) => compare(guard, best.get(nameOf(guard)), baseline, options.node);
  for (let repeat = 0; repeat < mostRepeats; repeat++) {
    const grown = guards.filter((guard) => judge(guard).ok === false);
    if (grown.length === 0) break;
    for (const [name, ratio] of await measureGuards(grown, options)) {
      best.set(name, Math.min(ratio, best.get(name) ?? ratio));
    }
  }
  return guards.map(judge);
}
