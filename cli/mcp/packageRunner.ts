const runners: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx']);
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
  if (at < 0 && !runners.has(program)) return undefined;
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
export function wordAfter(words: readonly string[], ...options: readonly string[]): string | undefined {
  const at = words.findIndex((word) => options.includes(word));
  return at < 0 ? undefined : words[at + 1];
}
