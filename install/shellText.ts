/** Tells whether every shell starts the same words for it: a program and its arguments, with nothing to expand. */
export function isPlainCommand(text: string): boolean {
  return /^[\w@%+:,./-][\w@%+=:,./ -]*$/.test(text);
}

/**
 * The words of a simple command as a POSIX shell has them; undefined for anything more, such as expansions, pipes and lists. `"$SHELL"` alone
 * stays as it is written.
 */
export function splitShell(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== '') {
    let word = '';
    while (rest !== '' && !/^\s/.test(rest)) {
      const part = /^(?:'([^']*)'|"([^"$`\\]*)"|("\$SHELL")|\\([^\n])|([\w@%+=:,./-]+))/.exec(rest);
      if (part === null) return undefined;
      const [whole, single, double, variable, escaped, bare] = part;
      word += single ?? double ?? variable ?? escaped ?? bare ?? '';
      rest = rest.slice(whole.length);
    }
    words.push(word);
    rest = rest.trimStart();
  }
  return words;
}
