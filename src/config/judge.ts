import type { TextTest } from '../policy/failures/classify.ts';
import { complaintAt, type OptionProblem, type Path, pathText } from '../policy/options/optionProblem.ts';
import { judgePolicies } from '../policy/policies.ts';
import { isCertain } from '../policy/presetChain.ts';
import { collectProblems } from '../policy/options/readOptions.ts';
import type { ConfigOptions, LoadedConfig } from './configTypes.ts';
import { fileProblem, type Teller, toldProblem, valueAt } from './issues.ts';
import { configTable, isWhole } from './keys.ts';
import { isPlainObject, type Layer, mergeLayers } from './layers.ts';
import type { ConfigProblem, ConfigSource } from './problems.ts';
import { readForeignPattern, readPattern } from './readPattern.ts';
import { maxProblems } from './size.ts';
import { messageOf } from '../policy/failures/thrown.ts';

/** A layer, and how its problems are told. */
export interface ToldLayer extends Layer {
  readonly teller: Teller;
  /** Problems that were found with its text. */
  readonly problems?: readonly ConfigProblem[] | undefined;
}

/** Sum of the layers, or its problems. */
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
  const alone = layers.flatMap((layer) => [...(layer.problems ?? []), ...inLayer(layer)]);
  const { value, problems: found } = collectProblems(configTable, merged.value);
  const { $schema: _, ...parsed } = (value ?? {}) as ConfigOptions & { readonly $schema?: string };
  const compiled = await compilePatterns(parsed, tellerOf);
  // Problems of a layer are told of that layer; here, those that they make together.
  const joint = [
    ...found.filter(({ what }) => what === 'missing' || what === 'together'),
    ...inPolicies(parsed, found),
  ];
  const problems = [
    ...alone,
    ...told(joint, tell({ from: 'default' }, 'configuration'), (each) => toldProblem(each, tellerOf(each.path))),
    ...compiled.problems,
  ];
  const origins = Object.fromEntries(merged.set.map(({ path, source }) => [pathText(path), source]));
  return { ...compiled, origins, problems: inOrder(problems, layers) };
}

/** Finds conflicts among policies whose values are right each on its own. */
function inPolicies({ policies = {} }: ConfigOptions, found: readonly OptionProblem[]): readonly OptionProblem[] {
  const problems: OptionProblem[] = [];
  const above = (path: Path): string => pathText(path.slice(0, -1));
  const wrong = new Set(found.map(({ path }) => above(path)));
  judgePolicies(policies as Parameters<typeof judgePolicies>[0], (place, complaint) => {
    const path = ['policies', ...place];
    // A value beside something wrong may be right with it.
    if (isCertain(complaint) || place.at(-1) === 'extends' || !wrong.has(above(path))) {
      problems.push(complaintAt(path, complaint));
    }
  });
  return problems;
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

/** Finds the problems of a layer on its own; a value it leaves out another one may say. */
function inLayer(layer: ToldLayer): readonly ConfigProblem[] {
  const { value, set } = mergeLayers([layer]);
  const odd = set.filter(({ path }) => !isWhole(path) && isInstance(valueAt(value, path)));
  const oddPlaces = new Set(odd.map(({ path }) => pathText(path)));
  const found = collectProblems(configTable, value, false).problems.filter(
    ({ what, path }) => what !== 'missing' && !oddPlaces.has(pathText(path)),
  );
  const instances = odd.map(({ path }) => complaintAt(path, { says: 'a plain object, got one of a class' }));
  return told([...found, ...instances], layer.teller, (each) => toldProblem(each, layer.teller));
}

/** The first findings as problems; to tell one takes longer than to find it. The others are counted in one more. */
function told(
  findings: readonly OptionProblem[],
  teller: Teller,
  tellOne: (finding: OptionProblem) => ConfigProblem,
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

/** The options with their patterns compiled. */
async function compilePatterns(options: ConfigOptions, tellerOf: TellerOf) {
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
      const text = messageOf(error);
      const says = text.replace(/^Expected `[^`]*` to be /, '');
      problems.push(toldProblem(complaintAt(path, { says, value: pattern }), tellerOf(path)));
    }
  }
  return { options: { ...options, toolCallRetry: { ...toolCallRetry, transientPatterns } }, problems, warnings };
}

/** The functions that tell of a value, by its path. */
type TellerOf = (path: Path) => Teller;
