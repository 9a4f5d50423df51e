import type { FailureFacts } from '../failures/failure.ts';

/** Characters that are looked back upon, and those after which they are looked at again. */
const [window, step] = [2000, 500];
/** Lengths of a passage, in characters. */
const [shortest, longest] = [20, 200];

/**
 * Text that is streamed, and whether its last 2,000 characters are one passage of 20 to 200 characters over and over. Keeps at most 8 kB, and looks each 500
 * characters, in some us.
 */
export class RepeatedText {
  #text = '';
  #fresh = '';

  /** Takes the next words. @returns the length of the passage in characters; undefined where nothing repeats, or nothing was looked at */
  push(words: string): number | undefined {
    this.#fresh += words.length > window ? words.slice(-window) : words;
    if (this.#fresh.length < step) return undefined;
    this.#text = (this.#text + this.#fresh).slice(-window);
    this.#fresh = '';
    return this.#text.length < window ? undefined : passageOf(this.#text);
  }
}

/** The failure that such a stream is, where it is ended. */
export const repeatsItself = (characters: number): FailureFacts => ({
  kind: 'spinning',
  message: `The text is one passage of ${characters} characters over and over`,
  outcome: 'unknown',
});

/** The shortest passage that a text is made of, where it is prose. */
function passageOf(text: string): number | undefined {
  const last = text.slice(-shortest);
  const tail = text.slice(-longest - shortest);
  for (let at = tail.lastIndexOf(last, longest - 1); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(last, at - 1)) {
    const length = longest - at;
    if (text.slice(length) !== text.slice(0, -length)) continue;
    // From the beginning of a line on, so that its lines are whole.
    const start = Math.max(0, text.slice(0, length).lastIndexOf('\n') + 1);
    return length >= shortest && isProse(text.slice(start, start + length)) ? length : undefined;
  }
  return undefined;
}

/** Marks of code, markup and tables, and beginnings of lines that are no sentences. */
const marks = /[{}=;<>|\\\t]|\p{L}\(|",\s*"|^\s*(?:[-*+#>•[(@$%&~]|\/\/|\d+[.):]|\p{L}[.)] )|[^\s\p{L}\p{N}]{5}/mu;
/** Beginnings of lines of code that have no marks, and rows of values. */
const code =
  /^\s*(?:import|from|return|def|class|const|let|var|function|end|begin|else|fi|done|use|include|require|select|insert|update|delete)\b[^.!?]*$|^[^.!?\n]*(?:,[^.!?,\n]*){3}$/im;
const sentenceEnd = /[.!?…:。！？]["'”’»)*_`]*$/;

/** Tells sentences from code, tables and lists: from lines that are short, and from what is hardly letters. */
function isProse(passage: string): boolean {
  if (marks.test(passage + passage) || code.test(passage)) return false;
  const lines = passage
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const areEntries = lines.length > 1 && lines.every((line) => /^[\w .-]{1,40}: /.test(line));
  const areShort = lines.every((line) => line.length < shortest && !sentenceEnd.test(line));
  if (areEntries || areShort) return false;
  const letters = passage.match(/[\p{L}\p{M}]/gu)?.length ?? 0;
  // Chinese and Japanese have no spaces.
  const isWorded = /\p{L}\S*(?:\s+\S*\p{L}\S*){3}/u.test(passage) || /[\u3040-\u9fff]/.test(passage);
  return isWorded && letters >= 0.6 * passage.replaceAll(/\s/g, '').length;
}
