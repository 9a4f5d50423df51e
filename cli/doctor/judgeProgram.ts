import { existsSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { ConfigFile } from '../../install/configFile.ts';
import { type Program, wordsOf } from '../../install/entry.ts';
import { systemFiles } from '../../install/files.ts';
import { type OwnCommand, readOwnCommand } from '../../install/launcher.ts';
import { splitShell } from '../../install/hookText.ts';
import { InstallState } from '../../install/state.ts';
import { scalarIn, tableAt } from '../../install/tree.ts';
import { shellWord } from '../../src/policy/text/face.ts';
import { installDirectory } from '../../src/store/face.ts';
import { ownLauncher } from '../install/ownLauncher.ts';
import { ownVersion } from './ownVersion.ts';
import { type DoctorWorld, type Finding, fail } from './finding.ts';
import { findProgram } from './findProgram.ts';

/** A server or hook, what starts it, and what is wrong with that. */
interface JudgedProgram {
  /** As one of ours; undefined when it is none. */
  readonly own: OwnCommand | undefined;
  /** Words that are started; undefined where only the agent knows. */
  readonly words: readonly string[] | undefined;
  readonly cwd: string;
  readonly finding?: Finding | undefined;
}

/** Judges whether the program of a server or hook is there. */
export function judgeProgram(program: Program, file: ConfigFile, world: DoctorWorld): JudgedProgram {
  const words = program.isShell ? splitShell(program.command.value) : wordsOf(program);
  const cwd = directoryOf(program, world);
  if (words === undefined) return { own: undefined, words, cwd };
  const own = readOwnCommand(words, scriptsOf(world));
  const env = { ...world.env, ...variablesOf(program) };
  const judged = { own, words, cwd };
  const launcher = own === undefined ? [] : words.slice(0, own.launcherWords);
  const lost = launcher.find((word, index) =>
    index === 0 ? !isThere(word, { env, cwd }) : isAbsolute(word) && !existsSync(word),
  );
  if (lost !== undefined) {
    const summary = `${program.name} of ${file.path} is behind ${missing(lost)}: it cannot start${program.kind === 'hook' ? ', and blocks nothing' : ''}`;
    return {
      ...judged,
      finding: fail('agent.launcher', summary, restoring(lost, launcher, file)),
    };
  }
  const command = (own?.wraps?.rest ?? words)[0] ?? '';
  // A word that an agent fills in itself, or a shell does, is known to them alone.
  if (/[$~]/.test(command)) return { own, words: undefined, cwd };
  const found = findProgram(command, { env, cwd });
  if (found.ok || isBuiltin(command, program)) return judged;
  const isClosed = found.why === 'not executable';
  const why = isClosed ? `${found.path} is not executable` : `there is no program ${command}`;
  const summary = `${program.name} of ${file.path} cannot start: ${why}`;
  const fix = isClosed ? `chmod +x ${shellWord(found.path)}` : editing(file);
  return { ...judged, finding: fail('agent.program', summary, fix) };
}

const editing = ({ path }: ConfigFile): string => `\${EDITOR:-vi} ${shellWord(path)}`;

/** In the words of the person who looks for it: `npx unwedge` works where an agent finds none. */
const missing = (lost: string): string =>
  lost === 'unwedge'
    ? 'an unwedge that is not on the PATH (one in node_modules is found by npm alone)'
    : `an unwedge that is gone (${lost})`;

/** Returns the command that brings back the unwedge of an entry: `install` mends the paths that it writes. */
function restoring(lost: string, launcher: readonly string[], file: ConfigFile): string {
  if (lost === 'unwedge') return `npm install --global unwedge@${ownVersion()}`;
  const isMended = isAbsolute(lost) && launcher.length <= 2 && file.scope !== 'project';
  return isMended ? `unwedge install ${file.agent}` : editing(file);
}

function isThere(command: string, where: { readonly env: DoctorWorld['env']; readonly cwd: string }): boolean {
  return findProgram(command, where).ok;
}

/** A line for a shell may begin with a word of the shell's own. */
const isBuiltin = (command: string, { kind, isShell }: Program): boolean =>
  kind === 'hook' && isShell && !command.includes('/');

/** Paths of unwedge that were written into files. */
function scriptsOf({ env }: DoctorWorld): ReadonlySet<string> {
  const written = new InstallState(systemFiles, installDirectory(env)).read().scripts;
  return new Set([...written, ...ownLauncher(env).args]);
}

function directoryOf({ table, path }: Program, { cwd }: DoctorWorld): string {
  const own = scalarIn(table, 'cwd') ?? scalarIn(table, 'workingDirectory');
  if (typeof own === 'string') return own;
  // Servers of one project alone stand below its folder.
  const folder = path[0] === 'projects' ? path[1] : undefined;
  return typeof folder === 'string' ? folder : cwd;
}

/** Returns its own variables, as its entry has them. */
export function variablesOf({ table }: Program): Readonly<Record<string, string>> {
  const tables = ['env', 'envs', 'environment'].flatMap((key) => tableAt(table, [key]) ?? []);
  const found: Record<string, string> = {};
  for (const env of tables) {
    for (const key of env.fields.keys()) {
      const value = scalarIn(env, key);
      if (typeof value === 'string') found[key] = value;
    }
  }
  return found;
}

/** A server or hook of an agent's file. */
export interface ConfiguredProgram {
  readonly program: Program;
  /** As one of ours; undefined when it is none. */
  readonly own: OwnCommand | undefined;
}

/** Verdict of an agent's own rules (policies, approvals, trust) on the parts that a file of it has configured. */
export interface Standing {
  /** Judges one server or hook; undefined when nothing is wrong with it. */
  of(configured: ConfiguredProgram): Finding | undefined;
  /** Judges the file, once. */
  ofFile(configured: readonly ConfiguredProgram[]): Finding | readonly Finding[] | undefined;
}

/** A folder and all that it is in, the nearest first. */
export function foldersAbove(folder: string): readonly string[] {
  const above = dirname(folder);
  return above === folder ? [folder] : [folder, ...foldersAbove(above)];
}
