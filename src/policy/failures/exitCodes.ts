import { read, readInteger, readString } from './errorChain.ts';
import { type ExitTeller, exitTellers } from './exitTellers.ts';
import { type Finding, means } from './finding.ts';
import { isOfStart, lineNeverExecuted } from './notExecuted.ts';

/** Signals that end a process, by the number that shells add to 128. */
const signals: ReadonlyMap<number, string> = new Map([
  [1, 'SIGHUP'],
  [2, 'SIGINT'],
  [3, 'SIGQUIT'],
  [4, 'SIGILL'],
  [5, 'SIGTRAP'],
  [6, 'SIGABRT'],
  [7, 'SIGBUS'],
  [8, 'SIGFPE'],
  [9, 'SIGKILL'],
  [11, 'SIGSEGV'],
  [13, 'SIGPIPE'],
  [14, 'SIGALRM'],
  [15, 'SIGTERM'],
  [24, 'SIGXCPU'],
  [25, 'SIGXFSZ'],
]);
/** Signals by which an agent is ended, and which it tells by its exit code where it has ended in order. */
const endsAgent = /^SIG(?:HUP|INT|QUIT|ABRT|BUS|KILL|SEGV|TERM)$/;

/** An exit code that stands for something else than that the command failed. */
type CodeMeaning = { readonly kind: 'crash'; readonly signal: string } | { readonly kind: 'timeout' };

/** Returns the meaning of a code by the word of those who tell it; undefined: it is the command's own, whatever it is. */
export function codeMeaning(exitCode: number, tellers: ReadonlySet<ExitTeller>): CodeMeaning | undefined {
  const isAgent = tellers.has('agent');
  const signal = isAgent ? signals.get(exitCode - 128) : undefined;
  if (signal !== undefined && endsAgent.test(signal)) return { kind: 'crash', signal };
  return exitCode === 124 && (isAgent || tellers.has('timeout')) ? { kind: 'timeout' } : undefined;
}

/**
 * What a shell may say by its exit code of a command that it ran, for people: another program, and a shell that was told so, exits with the same
 * code. It decides nothing.
 */
export function shellHint(exitCode: number | undefined, tellers: ReadonlySet<ExitTeller>): string | undefined {
  const signal = tellers.has('shell') ? signals.get((exitCode ?? 0) - 128) : undefined;
  return signal === undefined ? undefined : `as a shell tells ${signal}`;
}

/** The hint in a message that has one. */
export function hintIn(message: string): string | undefined {
  return /as a shell tells SIG[A-Z]{2,6}/.exec(message)?.[0];
}

/** Tells what the end of a process means, as execa and `child_process` throw it; a plain exit code leaves room for its stderr. */
export function byExit(error: unknown): Finding | undefined {
  // `exec` keeps the exit code in `code`, and always names its command.
  const cmd = readString(error, 'cmd');
  const exitCode = readInteger(error, 'exitCode') ?? (cmd === undefined ? undefined : readInteger(error, 'code'));
  const signal = readString(error, 'signal');
  if (read(error, 'isCanceled') === true) return { ...means.cancelled, code: signal };
  if (read(error, 'timedOut') === true) return { ...means.timeout, code: signal };
  if (signal?.startsWith('SIG') === true) return { ...means.crash, code: signal };
  if (exitCode === undefined || exitCode === 0) return undefined;
  const line = cmd ?? readString(error, 'command') ?? '';
  if (isUnstarted(error, line, exitCode)) return { ...means.spawn, code: exitCode };
  const meaning = codeMeaning(exitCode, tellersOf(error, line));
  switch (meaning?.kind) {
    case 'crash':
      return { ...means.crash, code: meaning.signal };
    case 'timeout':
      return { ...means.timeout, code: exitCode };
    case undefined:
      return { kind: 'unknown', outcome: outcomeOfExit(exitCode), code: exitCode };
  }
}

/** Effect of a command that ended by itself. A script that could not find its last command has run those before it. */
export function outcomeOfExit(exitCode: number): 'failed' | 'unknown' {
  return isOfStart(exitCode) ? 'unknown' : 'failed';
}

function isUnstarted(error: unknown, line: string, exitCode: number): boolean {
  // `exec` repeats its command before what that wrote.
  const message = readString(error, 'message') ?? '';
  const head = `Command failed: ${line}\n`;
  const stderr = readString(error, 'stderr') ?? (message.startsWith(head) ? message.slice(head.length) : '');
  return lineNeverExecuted(line, exitCode, stderr, readString(error, 'stdout'));
}

/** The words of a shell that could not run what it was to, at the beginning of a line. */
const ofShell = /^(?:\/\S{1,80}\/)?(?:sh|bash|dash|zsh|ksh): /m;

function tellersOf(error: unknown, commandLine: string): ReadonlySet<ExitTeller> {
  const [command = '', ...args] = commandLine.trim().split(/\s+/, 50);
  if (/(?:^|\/)(?:claude|codex)$/.test(command)) return new Set(['agent']);
  const tellers = exitTellers(command, args);
  // A shell that the library has put around the command does not show in its words.
  const said = [readString(error, 'stderr'), readString(error, 'message')];
  return said.some((text) => ofShell.test(text?.slice(-2000) ?? '')) ? new Set([...tellers, 'shell']) : tellers;
}
