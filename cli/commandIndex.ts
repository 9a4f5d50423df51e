/** Finds the name of the command: options may stand before it, as in `unwedge --db FILE status`. */
export function commandIndex(words: readonly string[]): number {
  let index = 0;
  while (words[index]?.startsWith('-') === true && words[index] !== '--') index += words[index] === '--db' ? 2 : 1;
  return index;
}
