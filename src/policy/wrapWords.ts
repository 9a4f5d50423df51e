import { textWidth } from './textWidth.ts';

/**
 * Words in lines of at most `width` columns. A word that is longer has a line of its own and stays whole, so that it can be copied.
 * @param indent - before the second line and those after it; counts as part of the width. @defaultValue ''
 */
export function wrapWords(text: string, width: number, indent = ''): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (word === '') continue;
    const longer = line === '' ? word : `${line} ${word}`;
    const isFirst = lines.length === 0;
    if (line !== '' && textWidth(longer) > width - (isFirst ? 0 : indent.length)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  lines.push(line);
  return lines.map((each, index) => (index === 0 ? each : indent + each));
}
