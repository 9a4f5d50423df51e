// Made when first needed: it takes longer than all the rest of a command.
let segmenter: Intl.Segmenter | undefined;

function graphemes(text: string): Iterable<Intl.SegmentData> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** East Asian wide and fullwidth forms, coarsely by block. */
const wide =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const narrowOnly = /^[ -~]*$/;
const invisible = /^[\p{Mark}\p{Format}\p{Control}]+$/u;

/** Counts the columns of a terminal that the text takes. */
export function textWidth(text: string): number {
  if (narrowOnly.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes(text)) width += graphemeWidth(segment);
  return width;
}

/** The text in at most `width` columns; what is cut off shows as `…`. */
export function fitText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let left = width - 1;
  for (const { segment } of graphemes(text)) {
    left -= graphemeWidth(segment);
    if (left < 0) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** The same, cut in the middle: names differ at their ends. */
export function fitName(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const all = [...graphemes(text)].map(({ segment }) => segment);
  const half = Math.floor((width - 1) / 2);
  return `${taken(all, width - 1 - half)}…${taken(all.reverse(), half, true)}`;
}

/** As many of the first graphemes as fit. @param isReversed - whether they come from the end of a text. */
function taken(all: readonly string[], width: number, isReversed = false): string {
  let left = width;
  const kept: string[] = [];
  for (const each of all) {
    left -= graphemeWidth(each);
    if (left < 0) break;
    kept.push(each);
  }
  return (isReversed ? kept.reverse() : kept).join('');
}

function graphemeWidth(grapheme: string): number {
  if (invisible.test(grapheme)) return 0;
  return wide.test(grapheme) || /\p{Emoji_Presentation}/u.test(grapheme) ? 2 : 1;
}

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
