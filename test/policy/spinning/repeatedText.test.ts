import { describe, expect, it } from 'vitest';
import { RepeatedText } from '../../../src/policy/spinning/repeatedText.ts';

/** What comes of a text that is streamed, in pieces as models send them. @returns the length of the passage, and after how many characters it was found */
function streamed(text: string, piece = 7): { length: number; at: number } | undefined {
  const watch = new RepeatedText();
  for (let at = 0; at < text.length; at += piece) {
    const length = watch.push(text.slice(at, at + piece));
    if (length !== undefined) return { length, at: at + piece };
  }
  return undefined;
}

const over = (passage: string, length = 6000): string => passage.repeat(Math.ceil(length / passage.length));
const numbered = (line: (n: number) => string, count = 200): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('');

const healthy: Readonly<Record<string, string>> = {
  'code, one line over and over': over('console.log("nothing to see here");\n'),
  'code in a block': over('  if (value === undefined) {\n    return undefined;\n  }\n'),
  'Python without marks': over('from collections import OrderedDict\n'),
  'a comment of code': over('// TODO: write this one as well\n'),
  SQL: over('select name from users where active\n'),
  'an assignment': over('total = total + price_of_item\n'),
  'CSV, the same row': over('apple,banana,cherry,date,elderberry\n'),
  'CSV with spaces': over('John Smith, New York, active, yes\n'),
  'CSV, rows that count': numbered((n) => `${n},John Smith,New York,active\n`),
  'a table of markdown': over('| alpha | beta | gamma | delta |\n'),
  'a table with tabs': over('alpha one\tbeta two\tgamma three\n'),
  'a list with dashes': over('- buy some milk and some bread\n'),
  'a list with numbers': numbered((n) => `${n}. Look at the file again and mend what is wrong.\n`),
  'a list of short lines': over('milk\nbread\ncheese\nbutter\neggs\n'),
  'a list of check marks': over('[x] the tests of the parser pass\n'),
  'ASCII art': over('  /\\_/\\   ( o.o )   > ^ <   \n'),
  'a drawing of lines': over('┌──────────┐ ┌──────────┐\n'),
  'a poem with a refrain': numbered(
    (n) =>
      `In the ${['spring', 'summer', 'autumn', 'winter'][n % 4]} of year ${n} we went down to the sea,\nand the waves they were singing for you and for me.\n`,
  ),
  'an array of JSON': over('{"name": "a", "value": 1}, '),
  'an array of words': over('"the quick brown fox jumps", '),
  YAML: over('name: one of the workers\nstate: as it was before\n'),
  base64: over('QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0'),
  'base64 of a picture': Array.from({ length: 6000 }, (_, n) => String.fromCharCode(65 + ((n * n * 7) % 26))).join(''),
  hexadecimal: over('00 ff 00 ff 12 34 56 78 9a bc de f0 '),
  'a line of dashes': '-'.repeat(6000),
  'dashes and spaces': over('- - - = = = - - - = = = - - - '),
  '"ha" a thousand times, as asked for': 'ha'.repeat(3000),
  '"ha ha" with spaces': 'ha '.repeat(2000),
  'a row of emoji': '😀🎉'.repeat(3000),
  'lines with a number that grows': numbered((n) => `Reading the file number ${n} of the directory.\n`),
  HTML: over('<li class="item">One of the entries</li>\n'),
  'a log': over('[INFO] the server is still listening\n'),
  'XML without attributes': over('<item><name>one of many</name></item>'),
  prose: numbered((n) => `The ${n % 7} of them went on to ${(n * 31) % 97}, where somebody waited for ${n * n} days. `),
  'a passage that came nine times': `${over('I will look at the file again. ', 280)}${numbered((n) => `Then number ${n} came.`)}`,
  'a long passage, a few times': over(numbered((n) => `Sentence ${n} of a longer passage. `, 40)),
};

const repeating: Readonly<Record<string, string>> = {
  'a sentence': over('I will look at the file again. '),
  'a sentence a line': over('Let me check the configuration once more.\n'),
  'a sentence a paragraph': over('Wait, let me think about this again.\n\n'),
  'two sentences': over('I see the problem now. Let me fix it by reading the file. '),
  'with a path': over("I'll read src/app/main.ts again.\n"),
  'with code in it': over('Now I will run `npm test` to see whether it passes.\n\n'),
  'without an end': over('All work and no play makes Jack a dull boy\n'),
  'short sentences in a cycle': over('Hmm.\nWait.\nActually, no.\nLet me look.\n'),
  'a thought': over("The user wants me to continue. I'll continue. "),
  'one that asks': over('Should I go on with this? Yes, I should go on with this. '),
  'an apology': over('I apologize for the confusion. Let me try again! '),
  Chinese: over('我会再看一遍这个文件，然后再试一次，直到它成功。'),
  Japanese: over('もう一度ファイルを確認して、もう一度試してみます。'),
  German: over('Ich sehe mir die Datei noch einmal an und überlege, was fehlt. '),
  Russian: over('Я посмотрю на файл ещё раз и попробую снова. '),
  'a paragraph of 190 characters': over(
    'The error says that the module could not be found, so I have to look at the imports again, and once I have done that I will be able to say what is wrong with this file, and mend it for you now. ',
  ),
  'after healthy work': `${numbered((n) => `Sentence ${n} is another one. `, 100)}${over('And so on, as it was before that. ')}`,
  'with a number that stays': over('I will run the test for the 3rd time and then stop. '),
};

describe('repeated text', () => {
  it.each(Object.entries(healthy))('[R-13] %s is no repetition', (_name, text) => {
    for (const piece of [1, 7, 40, 3000]) expect(streamed(text, piece)).toBeUndefined();
  });

  it.each(Object.entries(repeating))('[R-13] %s is one', (_name, text) => {
    for (const piece of [1, 7, 40]) {
      const found = streamed(text, piece);
      expect(found?.length).toBeGreaterThanOrEqual(20);
      expect(found?.length).toBeLessThanOrEqual(200);
    }
  });

  it('[R-13] it is found at the latest 500 characters after it fills the last 2,000', () => {
    const passage = 'I will look at the file again. ';
    const before = 'x'.repeat(777);
    expect(streamed(`${before}${over(passage)}`, 1)).toMatchObject({ length: passage.length });
    expect(streamed(`${before}${over(passage)}`, 1)?.at).toBeLessThanOrEqual(777 + 2500);
    expect(streamed(over(passage, 1900), 1)).toBeUndefined();
  });

  it('[R-13] the shortest passage counts, and one above 200 characters is none', () => {
    expect(streamed(over('Again I look at it. Again I look at it. '))?.length).toBe(20);
    const long =
      'This is one sentence of a passage whose sentences all are others. '.repeat(2) +
      'And this one ends it, as it is the last one of them, and after it all of it comes once more, as it was.';
    expect(long.length).toBeGreaterThan(200);
    expect(streamed(over(long))).toBeUndefined();
  });

  it('[R-13] a piece of a megabyte costs no more than its end', () => {
    const watch = new RepeatedText();
    expect(watch.push(over('I will look at the file again. ', 1_000_000))).toBe(31);
  });
});
