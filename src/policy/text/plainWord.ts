/** Longer runs of letters are pass phrases rather than words. */
const longestWord = 12;

/**
 * Tells whether a text is a word as anybody writes it: letters alone, of one case but for the first. It is no secret, whatever it stands under: it would be
 * found in every text that uses the word.
 */
export function isPlainWord(text: string): boolean {
  return text.length <= longestWord && /^(?:\p{Lu}?\p{Ll}+|\p{Lu}+)$/u.test(text);
}
