import { homedir } from 'node:os';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { boolean, either, type Given, off, test, text } from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import { KnownSecrets } from '../redaction/knownSecrets.ts';
import { isPostgresUrl } from '../policy/text/postgresUrl.ts';
import { createTextRedactor } from '../redaction/secrets.ts';
import { ConfigFileError, findConfigFiles, readConfigFile } from './configFile.ts';
import type { LoadedConfig, UnwedgeConfig } from './configTypes.ts';
import { environmentLayers, fileVariable } from './environment.ts';
import { fileProblem, repeatedKey, type Teller } from './issues.ts';
import { createLocator, repeatedKeys } from './jsonPositions.ts';
import { isPlainObject, type Layer } from './layers.ts';
import { readOpenClaw } from './openClaw.ts';
import { ConfigError, type ConfigProblem, type ConfigSource } from './problems.ts';
import { judge, type ToldLayer } from './judge.ts';
import { excessOf } from './size.ts';

/**
 * Reads the configuration from its sources; see `loadConfig`.
 * @param surroundings - the environment whose secrets are never told. @defaultValue the one that is read
 * @param besides - keys of the file that are read elsewhere. @defaultValue none
 */
export async function readConfig(
  options: LoadConfigOptions,
  surroundings?: LoadConfigOptions['env'],
  besides: readonly string[] = [],
): Promise<LoadedConfig> {
  const { cwd, env, file, openclaw, overrides } = checkOptions(options);
  const redactor = createTextRedactor(new KnownSecrets(surroundings ?? env));
  const hide = (text: string): string => redactor.text(text);
  const problems: ConfigProblem[] = [];
  const files: string[] = [];
  const layers: ToldLayer[] = [];
  const tell = (source: ConfigSource, name: string): Teller => ({ source, name: hide(name), hide });
  const read = async (teller: Teller, path: string, reading: () => Promise<ToldLayer | undefined>): Promise<void> => {
    try {
      const layer = await reading();
      if (layer === undefined) return;
      layers.push(layer);
      files.push(path);
    } catch (error) {
      if (!(error instanceof ConfigFileError)) throw error;
      problems.push(fileProblem(error.message, teller));
    }
  };

  if (openclaw !== undefined) {
    const teller = { ...tell({ from: 'openclaw', file: openclaw }, nameOf(openclaw, cwd)), prefix: ['gateway'] };
    await read(teller, openclaw, async () => {
      const found = await readOpenClaw(openclaw);
      if (found === undefined) return undefined;
      const { value, locate, repeated } = found;
      const lost = repeated.map((each) => repeatedKey(each, teller));
      return { source: teller.source, value, teller: { ...teller, locate }, problems: lost };
    });
  }
  const found = await filesOf(file, cwd, env);
  const [chosen] = found;
  if (chosen !== undefined) {
    const teller = tell({ from: 'file', file: chosen }, found.map((each) => nameOf(each, cwd)).join(' and '));
    if (found.length > 1)
      problems.push(fileProblem(`expected one configuration file in ${cwd}, got ${found.length}`, teller));
    else {
      await read(teller, chosen, async () => {
        const { value, text } = await readConfigFile(chosen);
        const locate = text === undefined ? undefined : createLocator(text);
        const repeated = text === undefined ? [] : repeatedKeys(text).map((each) => repeatedKey(each, teller));
        const own = Object.fromEntries(Object.entries(value).filter(([key]) => !besides.includes(key)));
        const ownValue = fromDirectory(besides.length === 0 ? value : own, dirname(chosen));
        return { source: teller.source, value: ownValue, teller: { ...teller, locate }, problems: repeated };
      });
    }
  }
  const environment = environmentLayers(env);
  for (const layer of environment.layers) layers.push({ ...layer, teller: tell(layer.source, variableIn(layer)) });
  if (overrides !== undefined) {
    const source = { from: 'override' } as const;
    const excess = excessOf(overrides);
    if (excess !== undefined)
      throw new RangeError(`Expected \`options.overrides\` to be a configuration: it ${excess}`);
    layers.push({ source, value: overrides as Layer['value'], teller: tell(source, 'overrides') });
  }

  const judged = await judge(layers, tell);
  const all = [...problems, ...judged.problems];
  if (all.length > 0) throw new ConfigError(all);
  const { options: gatewayOptions, origins } = judged;
  const warnings = [...environment.warnings, ...judged.warnings];
  return { options: gatewayOptions, origins, files, warnings };
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

const loadKeys = {
  /** Directory in which a configuration file is looked for. @defaultValue the working directory */
  cwd: text(),
  /** The configuration file; `false`: none is read. @defaultValue `UNWEDGE_CONFIG`, else `unwedge.config.{mjs,js,json}` in `cwd` */
  file: either<string | false>([off, text()], (value) => (value === false ? 0 : 1), 'a path, or false'),
  /** The variables of the environment. @defaultValue that of the process */
  env: test<Readonly<Record<string, string | undefined>>>('an object of strings', isObject, { secret: true }),
  /**
   * Reads `gateway.toolCallRetry` of an `openclaw.json`, or names its file; one that is not there says nothing. `true`: `~/.openclaw/openclaw.json`.
   * @defaultValue false
   */
  openclaw: either<string | boolean>(
    [boolean(), text()],
    (value) => (typeof value === 'boolean' ? 0 : 1),
    'a path, or true or false',
  ),
  /** Wins over every source: what a command line says, for instance. */
  overrides: test<UnwedgeConfig>('an object', isPlainObject, { secret: true }),
};

/** Options for the sources that are read. */
export interface LoadConfigOptions extends Given<typeof loadKeys> {}

function checkOptions(options: LoadConfigOptions) {
  const { cwd = process.cwd(), file, openclaw = false } = readOptions('options', options, loadKeys);
  const { env = process.env, overrides } = options;
  const directory = resolve(cwd);
  const usual = join(homedir(), '.openclaw', 'openclaw.json');
  return {
    cwd: directory,
    env,
    file,
    overrides,
    openclaw: openclaw === false ? undefined : openclaw === true ? usual : resolve(directory, openclaw),
  };
}

/** The file that was named, or those that lie in the directory. */
async function filesOf(
  file: string | false | undefined,
  cwd: string,
  env: NonNullable<LoadConfigOptions['env']>,
): Promise<readonly string[]> {
  if (file === false) return [];
  const named = file ?? (env[fileVariable]?.trim() || undefined);
  return named === undefined ? findConfigFiles(cwd) : [resolve(cwd, named)];
}

/** Names a file, from the directory if it lies in or below it. */
function nameOf(file: string, cwd: string): string {
  const name = relative(cwd, file);
  return name.startsWith('..') || isAbsolute(name) ? file : name;
}

function variableIn({ source }: Layer): string {
  return source.from === 'environment' ? source.variable : '';
}

/** A file names other files from where it lies. */
function fromDirectory(value: Layer['value'], directory: string): Layer['value'] {
  const { store } = value;
  if (typeof store !== 'string' || store === '' || store === ':memory:' || isPostgresUrl(store)) return value;
  return { ...value, store: resolve(directory, store) };
}
