import { existsSync } from 'node:fs';
import { extname, join, resolve } from 'node:path';
import { ConfigError, environmentLayers, readConfig } from '../../src/config/face.ts';
import { isPostgresUrl, nearest, shellWord } from '../../src/policy/text/face.ts';
import { servedKeys } from '../serve/whatIsServed.ts';
import { exitCodes } from '../run/exitCode.ts';
import { duringModule } from '../namedConfig.ts';
import { quoted } from '../sanitize.ts';
import { type Check, type DoctorWorld, type Finding, fail, ok, warning } from './finding.ts';

const prefix = 'UNWEDGE_';

/** The configuration file and the variables of the environment. */
export const checkConfiguration: Check = async (world) => [
  ...variableFindings(world),
  ...(await configFindings(world)),
];

/** Variables whose beginning is misspelt: nothing of ours ever looks at them. */
function variableFindings({ env }: DoctorWorld): readonly Finding[] {
  const off = env['UNWEDGE'];
  return [...(off === undefined ? [] : [switchFinding(off)]), ...misspelt(env)];
}

function switchFinding(value: string): Finding {
  return value === 'off'
    ? warning(
        'variable.off',
        'UNWEDGE is off: mcp, hook, run, acp and api pass everything on, and protect nothing',
        'unset UNWEDGE',
      )
    : warning('variable.unknown', `UNWEDGE is ${quoted(value)}, which says nothing: only off does`, 'unset UNWEDGE');
}

function misspelt(env: NodeJS.ProcessEnv): readonly Finding[] {
  return Object.keys(env)
    .filter((name) => {
      const start = `${name.split('_', 1)[0]}_`;
      return start !== prefix && start.length > 4 && nearest(start, [prefix]) !== undefined;
    })
    .sort()
    .map((name) => unreadVariable(name, `${prefix}${name.slice(name.indexOf('_') + 1)}`));
}

function unreadVariable(name: string, meant: string | undefined): Finding {
  const guess = meant === undefined ? '' : `; did you mean ${meant}?`;
  const fix = meant === undefined ? `unset ${name}` : `export ${meant}="$${name}"; unset ${name}`;
  return warning('variable.unknown', `nothing reads the variable ${name}${guess}`, fix);
}

/**
 * The database that the configuration names as its `store`; undefined where it names none, or cannot be read. Of a file that merely lies in the
 * directory, which only programs there read, a PostgreSQL database alone.
 */
export async function databaseOfConfiguration(world: DoctorWorld): Promise<string | undefined> {
  const { file, named } = fileOf(world);
  if (file === undefined) return undefined;
  try {
    const { store } = (await read(file, world)).options;
    const isNamed = named !== undefined && store !== ':memory:';
    return typeof store === 'string' && (isNamed || isPostgresUrl(store)) ? store : undefined;
  } catch {
    return undefined;
  }
}

function fileOf({ env, cwd, config }: DoctorWorld): {
  readonly file: string | undefined;
  /** The same where `--config` or `UNWEDGE_CONFIG` names it. */
  readonly named: string | undefined;
  readonly lying: readonly string[];
} {
  const named = config ?? (env['UNWEDGE_CONFIG']?.trim() || undefined);
  const lying = ['mjs', 'js', 'json'].map((ending) => join(cwd, `unwedge.config.${ending}`)).filter(existsSync);
  // A file that merely lies there is run by `unwedge config` alone; data is not run.
  return { file: named ?? lying.find((path) => extname(path) === '.json'), named, lying };
}

function read(file: string | undefined, { env, cwd, signal }: DoctorWorld): ReturnType<typeof readConfig> {
  return duringModule({ file: file ?? '', exitCode: exitCodes.ownError, signal }, () =>
    readConfig({ file: file ?? false, env, cwd }, undefined, servedKeys),
  );
}

async function configFindings(world: DoctorWorld): Promise<readonly Finding[]> {
  const { env, cwd } = world;
  const { file, lying } = fileOf(world);
  const unread = file === undefined && lying[0] !== undefined ? [notRun(lying[0])] : [];
  try {
    const { warnings, files } = await read(file, world);
    const found =
      files.length === 0
        ? ok('config.none', 'no configuration file is used')
        : ok('config', `${files.join(' and ')} is in order`);
    return [...unread, found, ...warnings.map(warningFinding)];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const problems = error.problems.map((problem) => problemFinding(problem, resolve(cwd, file ?? '')));
    // A fault elsewhere says nothing of variables that nothing reads.
    return [...unread, ...problems, ...environmentLayers(env).warnings.map(warningFinding)];
  }
}

function notRun(path: string): Finding {
  const summary = `${path} is not read here, as it would be run: \`unwedge config --check ${shellWord(path)}\` does`;
  return ok('config', summary);
}

function warningFinding(text: string): Finding {
  const [, name, meant] = /^unknown variable (\w+)(?:; did you mean (\w+)\?)?$/.exec(text) ?? [];
  return name === undefined ? warning('config.warning', text) : unreadVariable(name, meant);
}

function problemFinding({ message, source }: ConfigError['problems'][number], file: string): Finding {
  const fix = source?.from === 'environment' ? `unset ${source.variable}` : `\${EDITOR:-vi} ${shellWord(file)}`;
  return fail('config.wrong', message, fix);
}
