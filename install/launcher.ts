/** Start of this program: a command and the words before its own. */
export interface Launcher {
  readonly command: string;
  readonly args: readonly string[];
}

/** For files that others have too: whoever has unwedge has it under this name. */
export const bareLauncher: Launcher = { command: 'unwedge', args: [] };

/** Work of a command line of ours. */
const verbs = ['mcp', 'hook', 'acp'] as const;
export type Verb = (typeof verbs)[number];

/** A command line that starts unwedge. */
export interface OwnCommand {
  /** Number of its words that start the program. */
  readonly launcherWords: number;
  /** Program that it stands in front of; undefined when it does something else. */
  readonly wraps:
    | {
        readonly verb: Verb;
        readonly options: readonly string[];
        /** The words after `--`: the original command and its arguments. */
        readonly rest: readonly string[];
      }
    | undefined;
}

const packageRunners = /^(?:npx|bunx|pnpx|uvx)(?:\.cmd|\.exe)?$/i;
const mainScript = /(?:^|[\\/])unwedge[\\/]dist[\\/]cli[\\/]main\.js$/;

/**
 * Reads a command line as one of ours; undefined when it is none.
 * @param scripts - paths of this program that were written before, or are now.
 */
export function readOwnCommand(words: readonly string[], scripts: ReadonlySet<string>): OwnCommand | undefined {
  const launcherWords = countLauncherWords(words, scripts);
  if (launcherWords === 0) return undefined;
  const verb = verbs.find((each) => each === words[launcherWords]);
  const end = words.indexOf('--', launcherWords);
  const rest = end < 0 ? [] : words.slice(end + 1);
  if (verb === undefined || rest.length === 0) return { launcherWords, wraps: undefined };
  return { launcherWords, wraps: { verb, options: words.slice(launcherWords + 1, end), rest } };
}

function countLauncherWords(words: readonly string[], scripts: ReadonlySet<string>): number {
  const [command = '', script = ''] = words;
  const program = command.replace(/^.*[/\\]/, '');
  if (/^unwedge(?:\.cmd|\.exe)?$/i.test(program) || scripts.has(command)) return 1;
  if (/^node(?:\.exe)?$/i.test(program) && (scripts.has(script) || mainScript.test(script))) return 2;
  if (!packageRunners.test(program)) return 0;
  const at = words.findIndex((word, index) => index > 0 && !word.startsWith('-'));
  return /^unwedge(?:@[^/]*)?$/.test(words[at] ?? '') ? at + 1 : 0;
}

const ownOptions: Readonly<Record<Verb, RegExp>> = {
  mcp: /^(?:--call-timeout \d+m?s ?)?(?:--max-result \d+kB)?$/,
  hook: /^--keep-background(?: --host-timeout \d+m?s)?(?: --on-failure block)?$/,
  acp: /^$/,
};

/**
 * Tells whether these are options as `install` writes them: without a record they tell its work from what somebody wrote by hand.
 * @param name - the options that give a server or an agent the name of its entry. An entry that was wrapped by an earlier version has none.
 */
export function areOwnOptions(verb: Verb, options: readonly string[], name: readonly string[] = []): boolean {
  const isNamed = name.length > 0 && name.every((word, index) => options[index] === word);
  const text = options.slice(isNamed ? name.length : 0).join(' ');
  return ownOptions[verb].test(text);
}
