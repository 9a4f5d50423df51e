/** Longest URI and template that are compared, in characters. */
const longest = 4096;

/**
 * Tells whether a URI can be made of a template (RFC 6570): the text between its expressions stands in the URI, in order. An expression may be anything, so
 * that this says yes to some that the template cannot make; in linear time, since both come from elsewhere.
 */
export function templateMatches(template: string, uri: string): boolean {
  if (template.length > longest || uri.length > longest) return false;
  const texts = template.split(/\{[^{}]*\}/);
  const [first = '', ...others] = texts;
  const last = others.pop();
  if (last === undefined) return template === uri;
  if (!uri.startsWith(first)) return false;
  let at = first.length;
  for (const text of others) {
    const found = uri.indexOf(text, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return uri.length - last.length >= at && uri.endsWith(last);
}
