/** So far below the answer its words are looked at: `meta.page.next`. */
const mostSteps = 3;

/**
 * Tells whether an answer says, or may say, that its list is not all there is: a next page, a cursor, a total above what it has, a limit that it reached,
 * errors. Anything in doubt counts as cut: of a call that is not listed it could not be told that it did not happen.
 * @param items - the list, which is somewhere in the answer.
 */
export function mayBeCut(answer: unknown, items: readonly unknown[], steps = mostSteps): boolean {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer) || steps === 0) return false;
  return Object.entries(answer).some(
    ([name, value]) => saysMore(name.toLowerCase(), value, items.length) || mayBeCut(value, items, steps - 1),
  );
}

function saysMore(name: string, value: unknown, length: number): boolean {
  if (/next|more|cursor|truncat|incomplete|partial|continu|error|warning/.test(name)) return isSaid(value);
  if (/complete|exhausted|islast|last_?page/.test(name)) return value === false;
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number') return false;
  if (/pages/.test(name)) return number > 1;
  if (/limit|size|perpage|per_page|maxresults/.test(name)) return number <= length;
  return /total|count/.test(name) && number > length;
}

function isSaid(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return Object.keys(value).length > 0;
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0;
}
