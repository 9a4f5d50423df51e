/** Tells whether a text has these parts in order, with anything between them: it begins with the first and ends with the last. In linear time. */
export function hasParts([first = '', ...others]: readonly string[], text: string): boolean {
  const last = others.pop();
  if (last === undefined) return first === text;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of others) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}

/** Tells whether a pattern fits a text: `*` stands for any characters, also none; all else for itself. */
export const globFits = (pattern: string, text: string): boolean => hasParts(pattern.split('*'), text);
