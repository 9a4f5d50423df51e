/** A number with its word: `1 call`, `3 calls`. @param plural - of a word that takes no s. */
export function counted(count: number, word: string, plural = `${word}s`): string {
  return `${count} ${count === 1 ? word : plural}`;
}
