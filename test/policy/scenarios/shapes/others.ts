import type { ShapeCall } from './shape.ts';
import { hash, word } from './volatile.ts';

const fileOf = (index: number): string => `/repo/src/${word(index)}/${word(index * 7 + 3)}${index}.ts`;

/** Makes calls of other work, none of them alike: searches, lists, pages, writes. */
export const otherCall = (index: number): ShapeCall => {
  const file = fileOf(index);
  switch (index % 4) {
    case 0:
      return { tool: 'Grep', input: { pattern: `export const ${word(index)}${index}` }, text: `Found 1 file\n${file}` };
    case 1:
      return {
        tool: 'Glob',
        input: { pattern: `src/${word(index)}${index}/**/*.ts` },
        text: `${file}\n${fileOf(index + 1)}`,
      };
    case 2:
      return {
        tool: 'WebFetch',
        input: { url: `https://docs.example.com/${word(index)}/${index}`, prompt: 'Summarise' },
        text: `The page describes ${word(index)} ${index} and its ${(hash(index) % 9) + 2} options.`,
      };
    default:
      return {
        tool: 'Write',
        input: { file_path: file, content: `// ${index}` },
        text: `File created successfully at: ${file}`,
      };
  }
};

/** Makes reads of other files. */
export const otherRead = (index: number): ShapeCall => ({
  tool: 'Read',
  input: { file_path: fileOf(index) },
  text: `1→import { ${word(index)} } from './${word(index + 5)}.ts';\n2→export const limit = ${hash(index) % 1000};`,
});

/** Makes shell commands that succeed, each its own. */
export const otherShell = (index: number): ShapeCall => ({
  tool: 'Bash',
  input: { command: `wc -l ${fileOf(index)}`, description: 'Count lines' },
  text: `${hash(index) % 900} ${fileOf(index)}`,
});
