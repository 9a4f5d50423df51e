/**
 * Programs whose exit codes mean more than that the command failed. `shell`: 126 and 127 for what it could not run, 128+n for what signal n
 * ended. `env`: 126 and 127. `timeout`: 124. `agent`: an agent of ours, which ends so by itself.
 */
export type ExitTeller = 'shell' | 'env' | 'timeout' | 'agent';

const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish']);

/** A program that starts the command which its arguments name, and ends as that does. */
interface Wrapper {
  /** Options whose value is the next word. */
  readonly takesValue: RegExp;
  /** Options with their value in the same word, and those without one. After any other option nothing is certain. */
  readonly isOption: RegExp;
  /** Words of its own before the command. */
  readonly isOwn?: (word: string, index: number) => boolean;
}

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    takesValue: /^(?:-u|-C|--unset|--chdir)$/,
    isOption: /^(?:-[i0v]*|--ignore-environment|--null|--debug|--unset=.*|--chdir=.*|--[a-z]+-signal(?:=.*)?)$/,
    isOwn: (word) => /^[^=]+=/.test(word),
  },
  nice: { takesValue: /^(?:-n|--adjustment)$/, isOption: /^(?:-n?[+-]?\d+|--adjustment=.*)$/ },
  timeout: {
    takesValue: /^(?:-s|-k|--signal|--kill-after)$/,
    isOption: /^(?:-[fpv]+|-[sk].+|--foreground|--preserve-status|--verbose|--signal=.*|--kill-after=.*)$/,
    isOwn: (_, index) => index === 0,
  },
  setsid: { takesValue: /^(?!)/, isOption: /^(?:-[cfw]+|--ctty|--fork|--wait)$/ },
  nohup: { takesValue: /^(?!)/, isOption: /^(?!)/ },
  stdbuf: {
    takesValue: /^(?:-[ioe]|--(?:input|output|error))$/,
    isOption: /^(?:-[ioe].+|--(?:input|output|error)=.*)$/,
  },
};

/**
 * Those of a command that may tell something by its exit code, as far as its words are certain: of any other an exit code is its own.
 *
 * @example
 * exitTellers('timeout', ['5s', 'nice', 'sh', '-c', 'make']) // 'timeout', 'shell'
 */
export function exitTellers(command: string, args: readonly string[] = []): ReadonlySet<ExitTeller> {
  const tellers = new Set<ExitTeller>();
  let words: readonly string[] = [command, ...args];
  while (words[0] !== undefined) {
    const name = baseName(words[0]);
    const rest = words.slice(1);
    if (shells.has(name)) return tellers.add('shell');
    if (name === 'env') tellers.add('env');
    if (name === 'timeout' && !keepsStatus(rest)) tellers.add('timeout');
    const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
    if (name === 'busybox') words = rest;
    else if (wrapper === undefined) return tellers;
    else words = wrappedBy(wrapper, rest);
  }
  return tellers;
}

/** The command behind the words of a wrapper; none where they are not all known. */
function wrappedBy(
  { takesValue, isOption, isOwn = () => false }: Wrapper,
  words: readonly string[],
): readonly string[] {
  let own = 0;
  let areOptionsOver = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? '';
    if (!areOptionsOver && word === '--') areOptionsOver = true;
    else if (!areOptionsOver && word.startsWith('-')) {
      if (takesValue.test(word)) index++;
      else if (!isOption.test(word)) return [];
    } else if (isOwn(word, own++)) areOptionsOver = true;
    else return words.slice(index);
  }
  return [];
}

/** It ends as the command did then, also after its limit. */
const keepsStatus = (words: readonly string[]): boolean =>
  words.slice(0, 8).some((word) => /^(?:--preserve-status|-[fv]*p[fpv]*)$/.test(word));

const baseName = (word: string): string => word.replace(/^.*[/\\]/, '').replace(/\.exe$/i, '');
