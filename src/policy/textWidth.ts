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

/** How many columns of a terminal the text takes. */
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

function graphemeWidth(grapheme: string): number {
  if (invisible.test(grapheme)) return 0;
  return wide.test(grapheme) || /\p{Emoji_Presentation}/u.test(grapheme) ? 2 : 1;
}
