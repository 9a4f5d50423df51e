import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/rooms.mjs';

const source = fileURLToPath(new URL('../..', import.meta.url));
const relative = /^(What|Whether|How|Where|When|Who|Whose|Which|Of|One|Those)\b/;

/** The first words of each comment of a file. */
function beginnings(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^[ \t]*\/\*\*?\s*(?:\*\s*)?([^\n]*)/gm)].map(([, words]) => words ?? '');
  const lines = text.split('\n').map((line) => /^\s*\/\/\s?(.*)$/.exec(line)?.[1]);
  return [
    ...blocks,
    ...lines.filter((words, index) => words !== undefined && lines[index - 1] === undefined),
  ] as string[];
}

it('[U-13] comments begin with a verb or their noun: less than one in twenty with a relative word', () => {
  const all = sourceFiles().flatMap((file) => beginnings(readFileSync(join(source, file), 'utf8')));
  const bad = all.filter((words) => relative.test(words));
  expect(all.length).toBeGreaterThan(5_000);
  expect(bad.length / all.length).toBeLessThan(0.05);
});

it('[U-13] the first words of a comment are found in each of its forms', () => {
  const text = [
    '/** Whether it is. */',
    '/**',
    ' * How it is.',
    ' * Where.',
    ' */',
    'x(); // Who',
    '  // What is.',
    '  // Which is.',
  ];
  expect(beginnings(text.join('\n'))).toEqual(['Whether it is. */', 'How it is.', 'What is.']);
});
