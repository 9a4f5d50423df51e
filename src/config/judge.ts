import type { TextTest } from '../policy/classify.ts';
import { readForeignPattern, readPattern } from '../readPattern.ts';
import type { LoadedConfig } from './configTypes.ts';
import { contradictions, type TellerOf } from './contradictions.ts';
import { contradiction, fileProblem, type Finding, findingsOf, problemOf, type Teller, valueAt } from './issues.ts';
import { isWhole } from './keys.ts';
import { isPlainObject, type Layer, mergeLayers } from './layers.ts';
import { type ConfigProblem, type ConfigSource, pathText } from './problems.ts';
import { type Pruned, prune } from './prune.ts';
import { configSchema } from './schema.ts';
import { maxProblems } from './size.ts';

/** A layer, and how its problems are told. */
export interface ToldLayer extends Layer {
  readonly teller: Teller;
  /** What was found wrong with its text. */
  readonly problems?: readonly ConfigProblem[] | undefined;
}

/** What the layers say together, or what is wrong with it. */
interface Judged extends Pick<LoadedConfig, 'options' | 'origins' | 'warnings'> {
  readonly problems: readonly ConfigProblem[];
}

/** Puts the layers together and finds everything that is wrong: in each of them, and in what they make together. */
export async function judge(
  layers: readonly ToldLayer[],
  tell: (source: ConfigSource, name: string) => Teller,
): Promise<Judged> {
  const merged = mergeLayers(layers);
  const tellerOf: TellerOf = (path) => {
    const source = merged.sourceOf(path);
    return layers.find((layer) => layer.source === source)?.teller ?? tell(source, 'configuration');
  };
  const { value } = merged;
  const alone = layers.flatMap((layer) => [...(layer.problems ?? []), ...inLayer(layer)]);
  const { parsed, findings, missing } = prune(value);
  const { options, problems, warnings } = await complete(parsed, tellerOf);
  // What stood beside something wrong may be right with it.
  const isDoubtful = (path: readonly (string | number)[]): boolean =>
    findings.some((finding) => pathText(finding.path.slice(0, -1)) === pathText(path.slice(0, -1)));
  const origins = Object.fromEntries(merged.set.map(({ path, source }) => [pathText(path), source]));
  const together = [
    ...told(missing, tell({ from: 'default' }, 'configuration'), (finding) =>
      problemOf(finding, value, tellerOf(finding.path)),
    ),
    ...problems,
    ...contradictions(options, tellerOf, isDoubtful),
  ];
  return { problems: inOrder([...alone, ...together], layers), options, origins, warnings };
}

/** Source by source, and as they stand in the text of one. */
function inOrder(problems: readonly ConfigProblem[], layers: readonly ToldLayer[]): readonly ConfigProblem[] {
  const sources = layers.map(({ source }) => source);
  const compare = (one: ConfigProblem, other: ConfigProblem): number =>
    sources.indexOf(one.source) - sources.indexOf(other.source) ||
    (one.at?.line ?? 0) - (other.at?.line ?? 0) ||
    (one.at?.column ?? 0) - (other.at?.column ?? 0);
  return [...problems].sort(compare);
}

/** What is wrong with a layer on its own; what it leaves out another one may say. */
function inLayer(layer: ToldLayer): readonly ConfigProblem[] {
  const { value, set } = mergeLayers([layer]);
  const { error } = configSchema.safeParse(value);
  const odd = set.filter(({ path }) => !isWhole(path) && isInstance(valueAt(value, path)));
  const oddPlaces = new Set(odd.map(({ path }) => pathText(path)));
  const found = findingsOf(error, value).filter(
    ({ what, path }) => what !== 'missing' && !oddPlaces.has(pathText(path)),
  );
  // No name for anything: objects have it already.
  const reserved = new Map(
    set
      .map(({ path }) => path.slice(0, path.indexOf('__proto__') + 1))
      .filter((path) => path.length > 1)
      .map((path) => [pathText(path), { path, what: 'unknown', message: '' } as const]),
  );
  return [
    ...told([...found, ...reserved.values()], layer.teller, (finding) => problemOf(finding, value, layer.teller)),
    ...odd.map(({ path }) =>
      contradiction(path, undefined, 'a plain object', 'expected a plain object, got one of a class', layer.teller),
    ),
  ];
}

/** The first findings as problems; to tell one takes longer than to find it. The others are counted in one more. */
function told(
  findings: readonly Finding[],
  teller: Teller,
  tellOne: (finding: Finding) => ConfigProblem,
): readonly ConfigProblem[] {
  const problems = findings.slice(0, maxProblems).map(tellOne);
  const more = findings.length - problems.length;
  if (more === 0) return problems;
  // After the last that is told.
  return [...problems, { ...fileProblem(`${more} more problems are not told`, teller), at: problems.at(-1)?.at }];
}

/** A class has more to it than the fields that would be read: those of a Map or of Headers are none. */
function isInstance(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isPlainObject(value);
}

/** The values of a configuration without mistakes, with the patterns compiled. */
async function complete(parsed: Pruned['parsed'], tellerOf: TellerOf) {
  const options = { ...parsed };
  delete options.$schema;
  const { toolCallRetry } = options;
  const problems: ConfigProblem[] = [];
  const warnings: string[] = [];
  if (toolCallRetry?.transientPatterns === undefined) return { options, problems, warnings };
  const transientPatterns: (string | TextTest)[] = [];
  for (const [index, pattern] of toolCallRetry.transientPatterns.entries()) {
    const path = ['toolCallRetry', 'transientPatterns', index];
    try {
      if (typeof pattern === 'string') {
        const teller = tellerOf(path);
        const reading = teller.source.from === 'openclaw' ? readForeignPattern : readPattern;
        const warn = (warning: string): void => void warnings.push(`${teller.name}: ${teller.hide(warning)}`);
        transientPatterns.push(await reading(pathText([...(teller.prefix ?? []), ...path]), pattern, warn));
      } else transientPatterns.push(pattern);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      const said = text.replace(/^Expected `[^`]*` to be /, 'expected ');
      problems.push(contradiction(path, pattern, 'a regular expression of RE2', said, tellerOf(path)));
    }
  }
  return { options: { ...options, toolCallRetry: { ...toolCallRetry, transientPatterns } }, problems, warnings };
}
