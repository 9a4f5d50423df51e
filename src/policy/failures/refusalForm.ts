import { behind, deed, empty, wordPieces, refusals, wrapper } from './refusalWords.ts';

const longest = 9000;
const mostPieces = 120;

/**
 * Tells whether a text is a refusal as a whole: of each of its lines, what an SDK, a client or a system writes of a request that was not carried out,
 * with who passes it on before it, and the answer, where it was and advice behind it.
 * @param all - what else the same failure says, of which nothing may tell that something took place.
 */
export function isRefusal(text: string, all = text): boolean {
  if (text.length > longest || deed.test(all.replaceAll(/https?:\/\/\S+/g, ''))) return false;
  const telling = linesOf(text).filter((line) => !empty.test(line));
  return telling.length > 0 && telling.every((line, index) => isRefusalLine(line, index > 0));
}

const isFrame =
  /^\s+at .{1,300}(?::\d+:\d+\)?|<anonymous>\)?|\(native\))\s*\{?$|^\s+File "[^"\n]{1,300}", line \d+, in \S+$/;
/** Fields of an error as Node prints it, which its message has too. */
const isField = /^\s+(?:errno|code|syscall|address|port|hostname): [^\s,]{1,100},?$|^\s*[}\]]+,?$|^\s*[\^~]+$/;

/** The lines of a text, without stacks of Node and Python, and without the tags of a page. */
function linesOf(text: string): readonly string[] {
  const isPage = /^\s*<(?:!doctype html|html)\b/i.test(text);
  const lines = (isPage ? text.replaceAll(/<[^<>\n]{0,200}>/g, '\n') : text).split(/\r?\n/);
  const isTrace = lines[0]?.startsWith('Traceback (most recent call last):') === true;
  return lines
    .filter((line) => !isFrame.test(line) && !isField.test(line) && !(isTrace && /^ {4}/.test(line)))
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const opens = /^[\s:,–—-]*[{[]/;

/** @param isRefused - a line before it is one: advice or the answer may stand by itself. */
function isRefusalLine(line: string, isRefused: boolean): boolean {
  let rest = line;
  let isSaid = isRefused;
  for (let count = 0; count < mostPieces && rest !== ''; count += 1) {
    const isBody = opens.test(rest) ? isErrorBody(rest) : undefined;
    if (isBody !== undefined) return isBody && (isSaid || /"errors?" ?:/.test(rest));
    const said = firstOf(refusals, rest);
    const piece =
      said || firstOf([wrapper], rest) || (isSaid ? firstOf(behind, rest) : '') || firstOf(wordPieces, rest);
    if (piece === '') return false;
    isSaid ||= said !== '';
    rest = rest.slice(piece.length);
  }
  return rest === '';
}

/** The first piece that stands at the beginning. */
function firstOf(pieces: readonly RegExp[], line: string): string {
  for (const each of pieces) {
    const found = each.exec(line)?.[0] ?? '';
    if (found !== '') return found;
  }
  return '';
}

/** Keys of an answer that is an error and nothing else. */
const isOfError =
  /^(?:type|errors?|error_\w+|code|status|status_?(?:code|text)|name|message|msg|detail|details|title|description|reason|request_?id|trace_?id|jsonrpc|documentation_?url|doc_?url|help|hint|retry[_-]?after(?:_?\w+)?|global|ok|success|timestamp|path|instance|limit|remaining|reset)$/i;
const isNone = (value: unknown): boolean => value === false || value === null;

/** Tells whether a text is the body of an error and nothing else; undefined where it is no JSON. */
function isErrorBody(text: string): boolean | undefined {
  try {
    const body: unknown = JSON.parse(text.replace(/^[\s:,–—-]+/, ''));
    return typeof body !== 'object' || body === null
      ? undefined
      : [body].flat().every((each) => isErrorOnly(each as object));
  } catch {
    return undefined;
  }
}

function isErrorOnly(body: object): boolean {
  return Object.entries(body).every(([key, value]) => {
    if (/^(?:ok|success)$/i.test(key)) return isNone(value);
    // The number of a call of JSON-RPC, which has no id else.
    return isOfError.test(key) || (key === 'id' && 'jsonrpc' in body);
  });
}
