// A table that is made of the code and stands in a page between two comments, the first of which says what brings it up to date.
import { readFileSync, writeFileSync } from 'node:fs';

const root = new URL('..', import.meta.url);

/** @param place - the page, from the root of the project, and the comments before and after the table. */
export function tableIn({ page, begin, end }, shouldBe) {
  const file = new URL(page, root);
  const text = readFileSync(file, 'utf8');
  const from = text.indexOf(begin) + begin.length;
  const to = text.indexOf(end, from);
  if (!text.includes(begin) || to < 0) throw new Error(`${page} has no place for its table: ${begin}`);
  return {
    is: text.slice(from, to),
    shouldBe,
    write: () => writeFileSync(file, text.slice(0, from) + shouldBe + text.slice(to)),
  };
}
