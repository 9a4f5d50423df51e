import { baseName, commandKey, packageRunners } from '../../install/commandKey.ts';

/** Sources of a name beside the words of the command. */
interface ServerSurroundings {
  /** The name in the nearest `package.json` that has one, in the directory of this file or above it; the path may be relative. */
  readonly packageOf: (file: string) => string | undefined;
  /** The working directory. */
  readonly cwd: string;
}

/** Names of scripts and packages that say nothing of whose they are. */
const anybodys =
  /^(?:index|main|server|mcp|mcp[-_]server|server[-_]mcp|stdio|cli|app|start|run|mod|entry|__main__)(?:\.\w+)?$/i;
/** Directories that say nothing either. */
const anywhere = /^(?:dist|build|out|libs?|src|bin|esm|cjs|node|js|target|release|scripts?|stdio|\.{0,2})$/i;
export const containers: ReadonlySet<string> = new Set(['docker', 'podman', 'nerdctl']);
/** Options of a container's start that are whole by themselves; the next word of any other without `=` is its value. */
const containerFlags =
  /^(?:-[ditPq]+|--(?:rm|init|detach|interactive|tty|privileged|read-only|publish-all|quiet|no-healthcheck|oom-kill-disable))$/;
const shell = /^(?:ba|da|z|k|fi)?sh$/;
/** Text of a shell that starts one command, and has the shell do nothing about it. */
const plainText = /^(?:exec )?[\w@./:= -]+$/;
/** Characters of a word that are looked at. */
const longestWord = 4096;
/** It is shown in tables, and written into commands. */
const longestName = 100;
/** Commands one behind the other that are looked through. */
const mostWrappers = 8;
/** Characters that a terminal would obey, or not show. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/**
 * Returns the name of a server that was given none: its package, its image or its script. A script that is called as anybody's is (`index.js`) gives the
 * package it belongs to, else the directory it lies in; such a package, its scope.
 *
 * @example
 * serverName('npx', ['-y', '@acme/server-files@2'], world) // 'server-files'
 * serverName('docker', ['run', '-i', '--rm', 'mcp/github:latest'], world) // 'github'
 * serverName('node', ['/opt/files/dist/index.js'], world) // 'files', or the name of its package
 */
export function serverName(command: string, args: readonly string[], around: ServerSurroundings): string {
  const words = args.map((word) => word.slice(0, longestWord));
  return shown(nameOf(command.slice(0, longestWord), words, around)) || shown(baseName(command)) || 'server';
}

function shown(name: string): string {
  return Array.from(name.replace(unseen, '').trim()).slice(0, longestName).join('');
}

function nameOf(command: string, args: readonly string[], around: ServerSurroundings, wrappers = 0): string {
  const program = programOf(command);
  const [inner, ...innerArgs] = wrappers < mostWrappers ? wrapped(program, args) : [];
  if (inner !== undefined) return nameOf(inner, innerArgs, around, wrappers + 1);
  if (containers.has(program)) return imageName(args) ?? program;
  const folder = wordAfter(args, '--directory', '--project', '--prefix', '-C', '--dir');
  const run =
    packageRun(program, args) ?? (program === 'deno' ? args.find((word) => /^(?:npm|jsr):/.test(word)) : undefined);
  if (run !== undefined) return isScript(run) ? scriptName(under(folder, run), around) : packageName(run);
  if (/^(?:p?npm|yarn)$/.test(program)) {
    const own = around.packageOf(under(folder ?? '.', 'package.json'));
    return own === undefined ? program : packageName(own);
  }
  const jar = program === 'java' ? wordAfter(args, '-jar') : undefined;
  const key = commandKey(command, args);
  const module = wordAfter(args, '-m') === key ? key : undefined;
  if (module !== undefined) return module.split('.').findLast((part) => !anybodys.test(part)) ?? module;
  const script = jar ?? args.find((word) => baseName(word) === key) ?? (/[/\\]/.test(command) ? command : undefined);
  return script === undefined ? key : scriptName(script, around);
}

/** The command that another one stands before; empty when none does. */
export function wrapped(program: string, args: readonly string[]): readonly string[] {
  if (program === 'env') return from(args, (word) => !word.startsWith('-') && !word.includes('='));
  if (program === 'cmd') return from(args, (word) => /^\/c$/i.test(word)).slice(1);
  const text = shell.test(program) ? (wordAfter(args, '-c', '-lc') ?? '').trim() : '';
  if (!plainText.test(text)) return [];
  // A variable assigned before the command may be a secret.
  return from(text.replace(/^exec /, '').split(/ +/), (word) => !word.includes('='));
}

function from(words: readonly string[], isFirst: (word: string) => boolean): readonly string[] {
  const at = words.findIndex(isFirst);
  return at < 0 ? [] : words.slice(at);
}

/** The image, or the container, without registry, owner, tag and digest. */
function imageName(args: readonly string[]): string | undefined {
  const word = imageWord(args);
  return word === undefined ? undefined : tellingPart(word.replace(/@sha256:[^]*$/, '').replace(/:[^:/]*$/, ''));
}

/** The image, or the container, as it is written. */
export function imageWord(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => word === 'run' || word === 'exec' || word === 'start');
  for (let index = at + 1; at >= 0 && index < args.length; index++) {
    const word = args[index] ?? '';
    if (!word.startsWith('-')) return word;
    if (!word.includes('=') && !containerFlags.test(word)) index++;
  }
  return undefined;
}

/** Without scope, version, extras, and what an address may hold of secrets; a package of anybody's name is that of its scope. */
function packageName(written: string): string {
  const unversioned = written
    .replace(/^(?:npm|jsr|github|gitlab|bitbucket):/, '')
    .replace(/^[\w+.-]+:\/\/(?:[^/]*@)?/, '')
    .replace(/[?#][^]*$/, '')
    .replace(/(?<=.)@[^/]*$/, '')
    .replace(/\.git$/, '')
    .replace(/[[=<>~!][^]*$/, '');
  return tellingPart(unversioned) ?? '';
}

/** The last part of a path that is nobody else's name too; else the last. */
function tellingPart(path: string): string | undefined {
  const parts = path
    .split('/')
    .map((part) => part.replace(/^@/, ''))
    .filter((part) => part !== '');
  return parts.findLast((part) => !anybodys.test(part)) ?? parts.at(-1);
}

function scriptName(script: string, { packageOf, cwd }: ServerSurroundings): string {
  const name = baseName(script);
  if (/^\.{0,2}$/.test(name)) return scriptName(`${script}/index.js`, { packageOf, cwd });
  if (!anybodys.test(name)) return name;
  const own = packageOf(script);
  if (own !== undefined) return packageName(own);
  return (
    foldersOf(isAbsolute(script) ? script : `${cwd}/${script}`).findLast((folder) => !anywhere.test(folder)) ?? name
  );
}

function foldersOf(path: string): readonly string[] {
  const folders: string[] = [];
  for (const part of path.split(/[/\\]+/).slice(0, -1)) {
    if (part === '..') folders.pop();
    else if (part !== '.') folders.push(part);
  }
  return folders;
}

const isScript = (word: string): boolean => /\.(?:[cm]?[jt]sx?|py|rb|php|pl|sh)$/i.test(word);
const isAbsolute = (path: string): boolean => /^(?:[/\\]|[a-z]:)/i.test(path);
const under = (folder: string | undefined, path: string): string =>
  folder === undefined || isAbsolute(path) ? path : `${folder}/${path}`;

/** Name of a program, without its path and the endings of Windows. */
export function programOf(command: string): string {
  return baseName(command)
    .replace(/\.(?:exe|cmd|bat)$/i, '')
    .toLowerCase();
}

/** Commands of which a sub-command runs a package. */
const verbs: Readonly<Record<string, readonly string[]>> = {
  npm: ['exec', 'x'],
  pnpm: ['dlx', 'exec'],
  yarn: ['dlx', 'exec'],
  bun: ['x'],
  uv: ['run', 'tool'],
};
/** Options whose next word is their value. */
const takesValue =
  /^(?:-[pwC]|--(?:package|from|spec|directory|project|with|with-editable|with-requirements|python|index|index-url|extra-index-url|registry|cache|prefix|userconfig|workspace|env-file|node-options|group|extra))$/;
/** Program before a script that the runner finds the surroundings for. */
const interpreter = /^(?:python|node)[\d.]*$/;

/**
 * The package that a package runner runs, or the command of it, as it is written.
 * @param program - the name of the command, without path and extension.
 * @returns undefined when the program is none, or its words name nothing.
 */
export function packageRun(program: string, args: readonly string[]): string | undefined {
  const words = wordsBehind(program, args);
  if (words === undefined) return undefined;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (takesValue.test(word)) index++;
    else if (!word.startsWith('-') && !interpreter.test(word)) return word;
  }
  return wordAfter(words, '--package', '-p', '--from', '--spec');
}

function wordsBehind(program: string, args: readonly string[]): readonly string[] | undefined {
  const known = Object.hasOwn(verbs, program) ? verbs[program] : undefined;
  const at = known === undefined ? -1 : args.findIndex((word) => known.includes(word));
  if (at < 0 && !packageRunners.has(program)) return undefined;
  const words = args.slice(at + 1);
  // `pipx run`, `uv tool run`.
  return words[0] === 'run' ? words.slice(1) : words;
}

/** The packages that are named by an option, each as it is written. */
export function packagesNamed(words: readonly string[]): readonly string[] {
  const found: string[] = [];
  for (const [index, word] of words.entries()) {
    const [option = '', value = words[index + 1] ?? ''] = /^(--[\w-]+)=(.*)$/.exec(word)?.slice(1) ?? [word];
    if (/^(?:-p|--(?:package|from|spec|with))$/.test(option)) found.push(value);
  }
  return found;
}

/** The word behind the first of these options that is there. */
function wordAfter(words: readonly string[], ...options: readonly string[]): string | undefined {
  const at = words.findIndex((word) => options.includes(word));
  return at < 0 ? undefined : words[at + 1];
}
