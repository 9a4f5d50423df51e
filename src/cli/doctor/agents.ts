import { existsSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { agents } from '../../install/agents/agents.ts';
import { agentNames, type ConfigFile } from '../../install/configFile.ts';
import { readDocument } from '../../install/document.ts';
import { type Program, wordsOf } from '../../install/entry.ts';
import { systemFiles } from '../../install/files.ts';
import { readOwnCommand } from '../../install/launcher.ts';
import { findPrograms } from '../../install/programs.ts';
import { projectFolder } from '../../install/project.ts';
import { splitShell } from '../../install/shellText.ts';
import { InstallState } from '../../install/state.ts';
import { DocumentError, scalarIn, tableAt } from '../../install/tree.ts';
import { shellWord } from '../../policy/shellWord.ts';
import { messageOf } from '../../policy/thrown.ts';
import { installDirectory } from '../../store/paths.ts';
import { ownLauncher } from '../install/ownLauncher.ts';
import type { Check, DoctorWorld, Finding } from './finding.ts';
import { findProgram } from './findProgram.ts';
import type { ConfiguredServer } from './probe.ts';

/** What agents have configured: that each file can be read as its agent reads it, and that each program in it is there. */
export const checkAgents: Check = async (world) => {
  const findings: Finding[] = [];
  const servers: ConfiguredServer[] = [];
  for (const file of agentFiles(world)) {
    const read = readFile(file, world);
    findings.push(...read.findings);
    if (file.scope !== 'project') servers.push(...read.servers);
  }
  if (findings.length === 0)
    return [{ id: 'agents', status: 'ok', summary: 'no agent has servers or hooks configured' }];
  return world.probe ? [...findings, ...(await (await import('./probe.ts')).probeServers(servers, world))] : findings;
};

/** Files that are there, each once. */
function agentFiles(world: DoctorWorld): readonly ConfigFile[] {
  const surroundings = {
    files: systemFiles,
    env: world.env,
    home: world.home,
    cwd: world.cwd,
    platform: process.platform,
    uid: world.uid,
    launcher: ownLauncher(world.env),
    stateDirectory: installDirectory(world.env),
    now: () => world.now,
    pause: () => Promise.resolve(),
    signal: world.signal,
  };
  const project = projectFolder(surroundings);
  const found = agentNames.flatMap((name) => agents[name].files(surroundings, project));
  return [...new Map(found.map((file) => [file.path, file])).values()].filter(({ path }) => existsSync(path));
}

interface ReadFile {
  readonly findings: readonly Finding[];
  /** Those that can be started. */
  readonly servers: readonly ConfiguredServer[];
}

function readFile(file: ConfigFile, world: DoctorWorld): ReadFile {
  const { title } = agents[file.agent];
  let programs: readonly Program[];
  try {
    const bytes = systemFiles.read(file.path);
    if (bytes === undefined) return { findings: [], servers: [] };
    const found = findPrograms(readDocument(bytes, file.format), file);
    programs = found.flatMap((each) => ('program' in each && isOn(each.program) ? [each.program] : []));
  } catch (error) {
    const why = error instanceof DocumentError ? error.message : messageOf(error);
    const summary = `${title} cannot use ${file.path}: ${why}`;
    return {
      findings: [{ id: 'agent.unreadable', status: 'fail', summary, fix: `\${EDITOR:-vi} ${shellWord(file.path)}` }],
      servers: [],
    };
  }
  if (programs.length === 0) return { findings: [], servers: [] };
  const judged = programs.map((program) => ({ program, ...judge(program, file, world) }));
  const wrapped = judged.filter(({ isWrapped }) => isWrapped).length;
  const rest = wrapped === programs.length ? '' : `; \`unwedge install ${file.agent} --dry-run\` shows the others`;
  const count = `${programs.length} ${programs.length === 1 ? 'server or hook' : 'servers and hooks'}`;
  const summary = `${title}: ${count} in ${file.path}, ${wrapped} behind unwedge${rest}`;
  return {
    findings: [{ id: 'agent', status: 'ok', summary }, ...judged.flatMap(({ finding }) => finding ?? [])],
    servers: judged.flatMap(({ program, words, cwd, finding }) =>
      program.kind === 'server' && finding === undefined && words !== undefined
        ? [{ agent: title, file: file.path, name: program.name, words, cwd, env: variablesOf(program) }]
        : [],
    ),
  };
}

const isOn = ({ table }: Program): boolean =>
  scalarIn(table, 'enabled') !== false && scalarIn(table, 'disabled') !== true;

interface Judged {
  readonly isWrapped: boolean;
  /** What is started; undefined where only the agent knows. */
  readonly words: readonly string[] | undefined;
  readonly cwd: string;
  readonly finding?: Finding | undefined;
}

function judge(program: Program, file: ConfigFile, world: DoctorWorld): Judged {
  const words = program.isShell ? splitShell(program.command.value) : wordsOf(program);
  const cwd = directoryOf(program, world);
  if (words === undefined) return { isWrapped: false, words, cwd };
  const own = readOwnCommand(words, scriptsOf(world));
  const wraps = own?.wraps;
  const env = { ...world.env, ...variablesOf(program) };
  const say = (finding: Finding): Judged => ({ isWrapped: wraps !== undefined, words, cwd, finding });
  const launcher = own === undefined ? [] : words.slice(0, own.launcherWords);
  const lost = launcher.find((word, index) =>
    index === 0 ? !isThere(word, { env, cwd }) : isAbsolute(word) && !existsSync(word),
  );
  if (lost !== undefined) {
    const summary = `${program.name} of ${file.path} is behind an unwedge that is gone (${lost}): it cannot start`;
    return say({ id: 'agent.launcher', status: 'fail', summary, fix: `unwedge install ${file.agent}` });
  }
  const command = (wraps?.rest ?? words)[0] ?? '';
  // What an agent fills in itself, or a shell does, is known to them alone.
  if (/[$~]/.test(command)) return { isWrapped: wraps !== undefined, words: undefined, cwd };
  const found = findProgram(command, { env, cwd });
  if (found.ok || isBuiltin(command, program)) return { isWrapped: wraps !== undefined, words, cwd };
  if (found.why === 'not executable') {
    const summary = `${program.name} of ${file.path} cannot start: ${found.path} is not executable`;
    return say({ id: 'agent.program', status: 'fail', summary, fix: `chmod +x ${shellWord(found.path)}` });
  }
  const summary = `${program.name} of ${file.path} cannot start: there is no program ${command}`;
  return say({ id: 'agent.program', status: 'fail', summary, fix: `\${EDITOR:-vi} ${shellWord(file.path)}` });
}

function isThere(command: string, where: { readonly env: DoctorWorld['env']; readonly cwd: string }): boolean {
  return findProgram(command, where).ok;
}

/** A line for a shell may begin with a word of the shell's own. */
const isBuiltin = (command: string, { isShell }: Program): boolean => isShell && !command.includes('/');

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

function variablesOf({ table }: Program): Readonly<Record<string, string>> {
  const env = tableAt(table, ['env']);
  const found: Record<string, string> = {};
  for (const key of env?.fields.keys() ?? []) {
    const value = env === undefined ? undefined : scalarIn(env, key);
    if (typeof value === 'string') found[key] = value;
  }
  return found;
}
