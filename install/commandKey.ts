const shells: ReadonlySet<string> = new Set(['sh', 'bash', 'dash', 'zsh', 'ksh', 'fish']);
const interpreters: ReadonlySet<string> = new Set(['node', 'bun', 'deno', 'tsx', 'python', 'ruby', 'perl', 'php']);
/** Programs that run a package. */
export const packageRunners: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx']);

/** Options whose next word is their value, and not the script. */
const takesValue = /^(?:-r|-C|-W|-X|-I|--require|--import|--loader|--experimental-loader|--conditions|--env-file)$/;
/** Options whose next word is the program text itself: there is no script to name. */
const takesText = /^(?:-e|-p|-c|-E|--eval|--print)$/;
/** Words that a shell does itself: they name no hook. */
const builtins =
  /^(?:cd|echo|eval|exec|exit|export|if|for|printf|set|source|test|trap|true|false|while|until|read|sleep|:|\.|\[{1,2}|\(|\{)$/;
/** Sub-commands of interpreters and runners that stand before the script. */
const verbs: ReadonlySet<string> = new Set(['run', 'exec']);

/**
 * Returns what the failures of a command are counted under: its base name; of a shell or an interpreter that of the script, of a package runner the package,
 * so that two hooks in Python do not share a circuit.
 *
 * @example
 * commandKey('/usr/bin/python3', ['-u', 'hooks/guard.py', '--strict']) // 'guard.py'
 * commandKey('npx', ['-y', '@acme/guard@2']) // '@acme/guard'
 */
export function commandKey(command: string, args: readonly string[]): string {
  const name = baseName(command);
  const program = name.replace(/\.exe$/i, '').replace(/(?<=[a-z])[\d.]+$/, '');
  if (packageRunners.has(program)) return packageName(scriptOf(args, true)) ?? name;
  if (shells.has(program)) return shellKey(args) ?? name;
  return (interpreters.has(program) ? scriptName(scriptOf(args, false)) : undefined) ?? name;
}

function shellKey(args: readonly string[]): string | undefined {
  const at = args.findIndex((word) => /^-(?=[a-z]*c)[a-z]*$/.test(word));
  if (at < 0) return scriptName(args.find((word) => !word.startsWith('-')));
  // The first word of the text that is no assignment is the command it starts.
  const words = (args[at + 1] ?? '').trim().split(/\s+/);
  const first = words.find((word) => !/^\w+=/.test(word))?.replace(/^["']|(?<!["';])["';]+$/g, '');
  return first === undefined || builtins.test(first) ? undefined : scriptName(first);
}

/** The first word that is neither an option nor the value of one. */
function scriptOf(args: readonly string[], isRunner: boolean): string | undefined {
  for (let index = 0; index < args.length; index++) {
    const word = args[index] ?? '';
    if (word === '-m' || (isRunner && (word === '-p' || word === '--package'))) return args[index + 1];
    if (takesText.test(word)) return undefined;
    if (takesValue.test(word)) index++;
    else if (!word.startsWith('-') && !verbs.has(word)) return word;
  }
  return undefined;
}

function packageName(word: string | undefined): string | undefined {
  return word?.replace(/(?<=.)@[^/]*$/, '') || undefined;
}

function scriptName(word: string | undefined): string | undefined {
  return word === undefined ? undefined : baseName(word) || undefined;
}

/** Last part of a path of either system. */
export function baseName(path: string): string {
  return path.replace(/(?<![/\\])[/\\]+$/, '').replace(/^.*[/\\]/, '');
}
