/** Says where the program was, or ends what it showed of it, and not what is wrong. */
const beside = /^(?:at |\^+$|[{}[\]()]+[,;]?$|Node\.js v\d)/;
/** A line of a log that tells of no error of its own, by the level it begins with, also after a time; each character before that in one way. */
const healthy =
  /^(?:[^a-z]|t(?=\d)|(?<=\d)z)*(?:trace|debug|verbose|info|notice|warn|warning)\b|["']?\b(?:level|severity|lvl)["']?\s*[:=]\s*["']?(?:trace|debug|info|notice|warn|warning|[1-4]0\b)/i;

/**
 * The last words of a program: its last line that is not empty, with the lines that are indented below it. What it wrote before may be of
 * something that it got over. Undefined when there are none, and when they are a line of a log that tells of no error.
 */
export function lastWords(text: string): string | undefined {
  const below: string[] = [];
  for (const line of text.split('\n').reverse()) {
    const said = line.trim();
    if (said === '' || beside.test(said)) continue;
    below.unshift(said);
    if (/^\s/.test(line)) continue;
    return healthy.test(said) ? undefined : below.join('\n');
  }
  return below.length === 0 ? undefined : below.join('\n');
}
