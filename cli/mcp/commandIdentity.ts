import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { packageRunners } from '../../install/commandKey.ts';
import { containers, imageWord, packageRun, packagesNamed, programOf, wrapped } from './serverName.ts';

/** A server's command, and where and with what it is started. */
interface IdentifiedCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the server. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Variables that are others in each terminal or session, and that no server is configured by. */
const ofSession =
  /^(?:_|PWD|OLDPWD|SHLVL|COLUMNS|LINES|WINDOWID|STY|TMUX|TMUX_PANE|INVOCATION_ID|JOURNAL_STREAM|UNWEDGE_RUN|TRACEPARENT|TRACESTATE|CLAUDE_CODE_SSE_PORT|CLAUDE_CODE_SESSION_ID|(?:TERM|ITERM|XDG)_SESSION_ID|XDG_ACTIVATION_TOKEN|SSH_(?:CLIENT|CONNECTION|TTY|AUTH_SOCK|AGENT_PID)|GPG_AGENT_INFO|KITTY_\w+|VSCODE_IPC_HOOK(?:_CLI)?)$/;
/** Their first file is the program; what comes before it are options. */
const interpreter =
  /^(?:node|nodejs|bun|deno|tsx|ts-node|python|pypy|ruby|perl|php|java|uv|(?:ba|da|z|k|fi)?sh)[\d.]*$/;
/** Folders above a script that are looked through for its package. */
const mostFolders = 8;
/** Commands one behind the other that are looked through. */
const mostWrappers = 8;

/**
 * All that decides which server a command is: its words, where it is started, its environment, and the program's file as it is now. Holds
 * the values of variables: not to be kept as it is. Undefined where the same words may start another server tomorrow, or the program
 * cannot be found.
 */
export function commandIdentity({ command, args, cwd, env }: IdentifiedCommand): unknown {
  if (!isPinned(command, args)) return undefined;
  const files = filesOf(command, args, cwd, env);
  if (files === undefined) return undefined;
  const variables = Object.entries(env)
    .filter(([name, value]) => value !== undefined && !ofSession.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return { command, args, cwd, files, variables };
}

function filesOf(
  command: string,
  args: readonly string[],
  cwd: string,
  env: IdentifiedCommand['env'],
  wrappers = 0,
): readonly string[] | undefined {
  const program = command.includes('/') ? resolve(cwd, command) : onPath(command, cwd, env);
  const version = program === undefined ? undefined : versionOf(program);
  if (version === undefined) return undefined;
  const name = programOf(command);
  const [inner, ...innerArgs] = wrappers < mostWrappers ? wrapped(name, args) : [];
  if (inner !== undefined) return [version, ...(filesOf(inner, innerArgs, cwd, env, wrappers + 1) ?? [])];
  return [version, ...(interpreter.test(name) ? scriptVersions(args, cwd) : [])];
}

function onPath(
  command: string,
  cwd: string,
  { PATH = '/bin:/usr/bin' }: IdentifiedCommand['env'],
): string | undefined {
  return PATH.split(delimiter)
    .map((folder) => resolve(cwd, folder, command))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return statSync(path).isFile();
      } catch {
        return false;
      }
    });
}

/** The script, and the package that it belongs to: an update changes both, or the second alone. */
function scriptVersions(args: readonly string[], cwd: string): readonly string[] {
  for (const word of args) {
    if (word.startsWith('-') || word.includes('\0')) continue;
    const path = resolve(cwd, word);
    const version = versionOf(path);
    if (version === undefined) continue;
    return [
      version,
      ...[join(path, 'package.json'), join(path, 'index.js'), ...packagesAbove(path)].flatMap(
        (each) => versionOf(each) ?? [],
      ),
    ];
  }
  return [];
}

function packagesAbove(path: string): readonly string[] {
  const found: string[] = [];
  let folder = dirname(path);
  for (let count = 0; count < mostFolders && dirname(folder) !== folder; count++, folder = dirname(folder))
    found.push(join(folder, 'package.json'));
  return found.filter((each) => versionOf(each) !== undefined).slice(0, 1);
}

/** A file as it is now; undefined where there is none. */
function versionOf(path: string): string | undefined {
  try {
    const { dev, ino, size, mtimeMs } = statSync(path);
    return [path, dev, ino, size, mtimeMs].join(' ');
  } catch {
    return undefined;
  }
}

const npmVersion = /^(?:npm:)?(?:@[^/@\s]+\/)?[^/@\s]+@\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
const pythonVersion = /^[\w.-]+(?:\[[\w,.\s-]*\])?(?:==|@)\d+(?:\.\d+)+[\w.+!-]*$/;
const commit = /(?:[#@])[0-9a-f]{40}$/;
const jsrVersion = /^jsr:@[^/@\s]+\/[^/@\s]+@\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
const imageVersion = /(?:@sha256:[0-9a-f]{64}|:v?\d+(?:\.\d+)+(?:[-+.][\w.+-]+)?)$/;
const localFile = /^(?:\.{0,2}\/|[a-z]:).|\.(?:[cm]?[jt]sx?|py)$/i;

/**
 * Tells whether the same words start the same server each time, as far as they tell: those of `npx`, `uvx` and `docker` fetch another one tomorrow, unless
 * its version is named.
 */
function isPinned(command: string, args: readonly string[], wrappers = 0): boolean {
  const program = programOf(command);
  if (isShellText(program, args)) {
    const [inner, ...innerArgs] = wrapped(program, args);
    return inner !== undefined && wrappers < mostWrappers && isPinned(inner, innerArgs, wrappers + 1);
  }
  const [inner, ...innerArgs] = wrapped(program, args);
  if (inner !== undefined) return wrappers < mostWrappers && isPinned(inner, innerArgs, wrappers + 1);
  if (containers.has(program)) {
    const image = args.includes('run') && !args.includes('compose') ? imageWord(args) : undefined;
    return image !== undefined && imageVersion.test(image);
  }
  const run = packageRun(program, args);
  if (run !== undefined || packageRunners.has(program)) {
    const named = packagesNamed(args);
    const specs = named.length > 0 ? named : run === undefined ? [] : [run];
    return specs.length > 0 && specs.every(isExact);
  }
  return args.every((word) => !/^(?:npm|jsr):/.test(word) || isExact(word));
}

const isExact = (spec: string): boolean =>
  [npmVersion, pythonVersion, jsrVersion, commit, localFile].some((form) => form.test(spec));

const isShellText = (program: string, args: readonly string[]): boolean =>
  /^(?:ba|da|z|k|fi)?sh$/.test(program) && args.some((word) => /^-\w*c$/.test(word));
