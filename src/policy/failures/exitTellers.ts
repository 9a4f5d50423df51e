/**
 * Programs whose exit codes mean more than that the command failed. `shell`: 128+n for what signal n ended. `timeout`: 124. `agent`: an agent of ours,
 * which ends so by itself.
 */
export type ExitTeller = 'shell' | 'timeout' | 'agent';

export const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish']);

/**
 * Those of a command that may tell something by its exit code, as far as its words are certain: of any other an exit code is its own.
 *
 * @example
 * exitTellers('timeout', ['5s', 'nice', 'sh', '-c', 'make']) // 'timeout', 'shell'
 */
export function exitTellers(command: string, args: readonly string[] = []): ReadonlySet<ExitTeller> {
  const tellers = new Set<ExitTeller>();
  for (const { name, args: rest } of chainOf(command, args)) {
    if (shells.has(name)) tellers.add('shell');
    if (name === 'timeout' && !keepsStatus(rest)) tellers.add('timeout');
  }
  return tellers;
}

/** It ends as the command did then, also after its limit. */
const keepsStatus = (words: readonly string[]): boolean =>
  words.slice(0, 8).some((word) => /^(?:--preserve-status|-[fv]*p[fpv]*)$/.test(word));

/**
 * A program that starts the one command which its arguments name, once, and ends as that does. `xargs` is none: it may have run its command for what came
 * before when it finds it no more.
 */
interface Wrapper {
  /** Options whose value is the next word. */
  readonly takesValue: RegExp;
  /** Options with their value in the same word, and those without one. After any other option nothing is certain. */
  readonly isOption: RegExp;
  /** Words of its own before the command. */
  readonly isOwn?: (word: string, index: number) => boolean;
  /** Exit code for a command that cannot be executed, where it is neither 126 nor 127. */
  readonly failsWith?: number;
}

const no = /^(?!)/;
const isFirst = (_: string, index: number): boolean => index === 0;
const isAssignment = (word: string): boolean => /^[^=]+=/.test(word);

const wrappers: Readonly<Record<string, Wrapper>> = {
  env: {
    takesValue: /^(?:-u|-C|--unset|--chdir)$/,
    isOption: /^(?:-[i0v]*|--ignore-environment|--null|--debug|--unset=.*|--chdir=.*|--[a-z]+-signal(?:=.*)?)$/,
    isOwn: isAssignment,
  },
  nice: { takesValue: /^(?:-n|--adjustment)$/, isOption: /^(?:-n?[+-]?\d+|--adjustment=.*)$/ },
  timeout: {
    takesValue: /^(?:-s|-k|--signal|--kill-after)$/,
    isOption: /^(?:-[fpv]+|-[sk].+|--foreground|--preserve-status|--verbose|--signal=.*|--kill-after=.*)$/,
    isOwn: isFirst,
  },
  setsid: { takesValue: no, isOption: /^(?:-[cfw]+|--ctty|--fork|--wait)$/ },
  nohup: { takesValue: no, isOption: no },
  stdbuf: {
    takesValue: /^(?:-[ioe]|--(?:input|output|error))$/,
    isOption: /^(?:-[ioe].+|--(?:input|output|error)=.*)$/,
  },
  ionice: {
    takesValue: /^(?:-[cn]|--class|--classdata)$/,
    isOption: /^(?:-[cn].+|-t|--ignore|--class(?:data)?=.*)$/,
  },
  chrt: {
    takesValue: /^(?:-[TPD]|--sched-(?:runtime|period|deadline))$/,
    isOption: /^(?:-[bdefiorRv]+|--(?:batch|deadline|ext|fifo|idle|other|rr|reset-on-fork|verbose)|--sched-[a-z]+=.*)$/,
    isOwn: (word, index) => index === 0 && /^\d+$/.test(word),
  },
  taskset: { takesValue: no, isOption: /^(?:-[ac]+|--all-tasks|--cpu-list)$/, isOwn: isFirst },
  prlimit: { takesValue: no, isOption: /^(?:--(?!pid)[a-z]+(?:=.*)?|-[cdefilmnqrstuvxy](?:=?[\d:]+|=?unlimited)?)$/ },
  choom: { takesValue: /^(?:-n|--adjust)$/, isOption: /^(?:-n.+|--adjust=.*)$/ },
  unshare: {
    takesValue: /^(?:-[SGRw]|--(?:setuid|setgid|root|wd|propagation|setgroups))$/,
    isOption:
      /^(?:-[mipnuUCTrcf]+|--[a-z-]+=.*|--(?:fork|map-root-user|map-current-user|mount|uts|ipc|net|pid|user|cgroup|time))$/,
  },
  nsenter: {
    takesValue: /^(?:-[tSG]|--target)$/,
    isOption: /^(?:-[tSG].+|-[amuinpUCT]+|--[a-z-]+=.*|--(?:all|mount|uts|ipc|net|pid|user|cgroup|time))$/,
  },
  setpriv: {
    takesValue: /^--(?:r|e|re)[ug]id$|^--(?:groups|(?:ambient|inh)-caps|bounding-set|securebits|pdeathsig)$/,
    isOption: /^--(?:clear-groups|keep-groups|init-groups|no-new-privs|nnp|reset-env|[a-z-]+=.*)$/,
  },
  chroot: { takesValue: no, isOption: /^--(?:userspec=.*|groups=.*|skip-chdir)$/, isOwn: isFirst },
  flock: {
    takesValue: /^(?:-[wE]|--(?:wait|timeout|conflict-exit-code))$/,
    isOption: /^(?:-[sxenoF]+|-w.+|--(?:shared|exclusive|nonblock|nb|close|no-fork|verbose)|--[a-z-]+=.*)$/,
    isOwn: isFirst,
    failsWith: 69,
  },
  sudo: {
    takesValue: /^(?:-[ugpChrtTUDR]|--(?:user|group|prompt|host|role|type|chdir|chroot))$/,
    isOption:
      /^(?:-[AbEHknPS]+|--(?:askpass|non-interactive|preserve-env|set-home|stdin|preserve-groups)|--[a-z-]+=.*)$/,
    isOwn: isAssignment,
    failsWith: 1,
  },
  doas: { takesValue: /^-[uC]$/, isOption: /^-[nL]+$/, failsWith: 1 },
};

/** Programs of a command line that are told, the outermost ones: nobody writes so many. */
const mostLinks = 16;

/** A program of a command line, from the outermost on: the last is the one that does what is wanted. */
export interface Link {
  /** Base name of the program. */
  readonly name: string;
  /** Word that it was called by. */
  readonly calledAs: string;
  readonly args: readonly string[];
  /** Command that it starts; undefined where it is no wrapper, or its words are not all known. */
  readonly starts: string | undefined;
  /** See {@link Wrapper.failsWith}. */
  readonly failsWith: number | undefined;
}

/** Lists the programs of a command line, each started by the one before it, as far as their words are certain. */
export function chainOf(command: string, args: readonly string[] = []): readonly Link[] {
  const links: Link[] = [];
  let words: readonly string[] = [command, ...args];
  while (words[0] !== undefined && links.length < mostLinks) {
    const calledAs = words[0];
    const name = baseName(calledAs);
    const rest = words.slice(1);
    const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
    if (name === 'busybox') words = rest;
    else words = wrapper === undefined ? [] : wrappedBy(wrapper, rest);
    if (name !== 'busybox') links.push({ name, calledAs, args: rest, starts: words[0], failsWith: wrapper?.failsWith });
  }
  return links;
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

const baseName = (word: string): string => word.replace(/^.*[/\\]/, '').replace(/\.exe$/i, '');
