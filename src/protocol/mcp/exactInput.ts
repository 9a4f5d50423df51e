import { fieldsOf } from './message.ts';
import { memberSpan, skipString, skipValue } from './jsonSpans.ts';

/** Tells at once of most texts that they have no number that JSON.parse does not keep. */
const mayLose = /\d[\d.]{15}|\d[eE]|-0/;
/** Numbers that are longer are never looked into, in characters. */
const longest = 400;

/**
 * The arguments of a call as equal calls share them: as they were parsed, unless a number of them is another one then (1234567890123456789, 1e400, -0), in
 * which case all their numbers and texts are texts of two kinds. Both are values that are JSON.
 * @param textOf - gives the request as it was written; its params are as they were parsed.
 */
export function exactInput(textOf: () => string, params: unknown): unknown {
  const { arguments: parsed } = fieldsOf(params);
  if (parsed === undefined || isOfTexts(parsed)) return parsed;
  const text = textOf();
  if (!mayLose.test(text)) return parsed;
  const span = memberSpan(text, 'arguments', memberSpan(text, 'params')?.start);
  const exact = span && exactText(text.slice(span.start, span.end));
  return exact === undefined ? parsed : [JSON.parse(exact)];
}

/** Tells of an object that it has texts alone, as most have. */
function isOfTexts(parsed: unknown): boolean {
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) return false;
  for (const name in parsed) if (typeof (parsed as Record<string, unknown>)[name] !== 'string') return false;
  return true;
}

/** A JSON text whose numbers are texts that begin with `n`, and whose texts begin with `s`; undefined where it loses no number. */
function exactText(text: string): string | undefined {
  const pieces: string[] = [];
  // What is no object could look like the form of one.
  let [at, isLosing] = [0, !text.startsWith('{')];
  while (at < text.length) {
    const char = text.charAt(at);
    const isNumber = /[-\d]/.test(char);
    const end = char === '"' ? skipString(text, at) : isNumber ? skipValue(text, at) : at + 1;
    const token = text.slice(at, end);
    at = end;
    if (char === '"') pieces.push(`"s${token.slice(1)}`);
    else if (isNumber && isLost(token)) pieces.push(`"n${token}"`);
    else pieces.push(isNumber ? `"n${Number(token)}"` : token);
    isLosing ||= isNumber && isLost(token);
  }
  return isLosing ? pieces.join('') : undefined;
}

/** Tells whether a number reads otherwise once it was parsed. */
function isLost(token: string): boolean {
  return token.length > longest || decimalOf(token) !== decimalOf(String(Number(token)));
}

/** A number by its digits and the place of the last: the same for 1, 1.0 and 10e-1. */
function decimalOf(token: string): string {
  const [, sign = '', whole = token, part = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token) ?? [];
  const digits = `${whole}${part}`.replace(/^0+/, '');
  const kept = digits.replace(/0+$/, '');
  return kept === '' ? `${sign}0` : `${sign}${kept}e${Number(exponent) - part.length + digits.length - kept.length}`;
}
