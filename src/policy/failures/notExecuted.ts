import { shells, chainOf, type Link } from './exitTellers.ts';

/** End of a process by an exit code, with all that it wrote. */
interface ExitWords {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  readonly exitCode: number;
  readonly stderr: string;
  /** @defaultValue nothing */
  readonly stdout?: string | undefined;
}

/** Codes that a shell and most wrappers have for a command that cannot be executed. Any command may have them for something else. */
export const isOfStart = (exitCode: number): boolean => exitCode === 126 || exitCode === 127;

/**
 * Tells whether nothing was executed at all: a wrapper, or a shell with one plain command, says in the only line of output that it could not execute that
 * command. A script says the same of its last line, after all that came before: it names another command than the one it is.
 *
 * @example
 * neverExecuted({ command: 'nice', args: ['book'], exitCode: 127, stderr: "nice: 'book': No such file or directory" }) // true
 * neverExecuted({ command: 'sh', args: ['-c', 'book; mail'], exitCode: 127, stderr: 'sh: 1: mail: not found' }) // false
 */
export function neverExecuted({ command, args = [], exitCode, stderr, stdout = '' }: ExitWords): boolean {
  // Anything else that was written, a blank line too, is of somebody who ran.
  const line = stderr.replace(/\r?\n$/, '');
  if (line === '' || line.length > longestLine || line.includes('\n') || stdout !== '') return false;
  return chainOf(command, args).some((link) => {
    const isCode = isOfStart(exitCode) || exitCode === link.failsWith;
    return isCode && (shells.has(link.name) ? isOfShell(line, link) : isOfWrapper(line, link));
  });
}

/**
 * The same of a command line as libraries tell it in their errors, of which nothing but plain words is certain. A shell that the library has put around it
 * shows by its words alone: `/bin/sh: 1: book: not found`.
 */
export function lineNeverExecuted(line: string, exitCode: number, stderr: string, stdout?: string): boolean {
  if (!plainScript.test(line)) return false;
  const [command = '', ...args] = line.trim().split(/\s+/);
  const shell = /^((?:\/\S{0,80}\/)?[a-z]{2,4}):/.exec(stderr)?.[1] ?? '';
  const end = { exitCode, stderr, stdout };
  return neverExecuted({ command, args, ...end }) || neverExecuted({ command: shell, args: ['-c', line], ...end });
}

const longestLine = 4000;
const reasons =
  /: (?:No such file or directory|Permission denied|(?:command )?not found|Exec format error|Not a directory|Is a directory|Argument list too long|Too many levels of symbolic links|cannot execute(?: binary file)?(?:: [A-Z][a-z ]{1,60})?)$/i;

function isOfWrapper(line: string, { name, calledAs, starts }: Link): boolean {
  if (starts === undefined) return false;
  return afterName(line, name, calledAs).some((said) => {
    const what = said.replace(/^: (?:failed to run command |failed to exec(?:ute)? |cannot run |can't execute )?/, '');
    const told = withoutReason(what)?.replace(/^['"‘“`](.*)['"’”]$/, '$1');
    return told === starts;
  });
}

/** Matches a single command of plain words: no second one, no expansion, no redirection. */
const plainScript = /^\s*([\w@%+:,./-]+)(?:[ \t]+(?:[\w@%+=:,./-]+|'[^'\n]*'|"[^"\n$`\\]*"))*\s*$/;

function isOfShell(line: string, { name, calledAs, args }: Link): boolean {
  const [first = '', script = ''] = args;
  const isFile = first !== '' && !first.startsWith('-');
  // A file that it was to read, and could not.
  const command = isFile ? first : /^-[a-z]*c$/.test(first) ? plainScript.exec(script)?.[1] : undefined;
  if (command === undefined) return false;
  return afterName(line, name, calledAs).some((said) => {
    const what = said.replace(/^:(?: ?(?:line )?\d+:)? /, '');
    return withoutReason(what) === command || (!isFile && what === `command not found: ${command}`);
  });
}

/** The rest of a line behind the name of who says it: programs call themselves as they were called, or by their base name. Another one of that name may not. */
function afterName(line: string, name: string, calledAs: string): readonly string[] {
  return [...new Set([calledAs, name])].flatMap((each) =>
    line.startsWith(`${each}:`) ? [line.slice(each.length)] : [],
  );
}

function withoutReason(text: string): string | undefined {
  const reason = reasons.exec(text);
  return reason === null ? undefined : text.slice(0, reason.index);
}
