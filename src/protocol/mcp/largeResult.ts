import { fieldsOf, type McpParams } from './message.ts';

const handle = { type: 'string', description: 'The handle in the note' };
const from = { type: 'integer', description: 'First byte, of UTF-8; else 0' };
const bytes = { type: 'integer', description: 'At most so many bytes; else a whole page' };

/** Tool by which the rest of a large result is read, as it is listed. */
export const readResultTool = {
  name: 'unwedge_read_result',
  description:
    'Reads a page of a tool result that was too large to be told whole. Such a result begins with a note that has its handle, and says where to read on.',
  inputSchema: { type: 'object' as const, properties: { handle, from, bytes }, required: ['handle'] },
  annotations: { readOnlyHint: true, openWorldHint: false },
  // Claude Code has its model look for tools by name first: one that a note names is to be there.
  _meta: { 'anthropic/alwaysLoad': true },
};

/** Characters of text up to which a tool wants its results told whole; undefined where it does not say. */
export function sizeCharsOf(tool: object | undefined): number | undefined {
  const chars = fieldsOf(fieldsOf(tool)['_meta'])['anthropic/maxResultSizeChars'];
  return typeof chars === 'number' && chars > 0 ? chars : undefined;
}

/** Share of what is told of a text that is taken from its beginning, and of that the one in which a line has to end. */
const share = 0.75;

/**
 * Cuts a result of which the text, the structured content or an embedded resource is larger than `limit`, in bytes; undefined where none is. Text is cut in
 * its middle, the others are left out whole. Pictures, sound, links and `ui://` resources are always told, behind the text.
 * Structured content that repeats the rest is not kept beside it.
 * @param chars - that its tool wants whole. @param keep - keeps the texts, a line end between two, and then what is left out as JSON, a line each; gives the handle.
 */
export function cutResult(
  result: McpParams,
  limit: number,
  chars: number | undefined,
  keep: (whole: Buffer) => string,
): McpParams | undefined {
  const { content, structuredContent, _meta, ...rest } = result;
  const { 'unwedge/result': theirs, ...meta } = fieldsOf(_meta);
  const blocks: readonly McpParams[] = Array.isArray(content) ? content.map(fieldsOf) : [];
  const texts = blocks.filter(({ type, text }) => type === 'text' && typeof text === 'string');
  const text = texts.map((block) => block['text']).join('\n');
  const left: [what: string, json: string][] = [];
  const isLarge = (json: string): boolean => isLonger(json, Math.max(limit, chars ?? 0));
  const others = blocks.filter(({ type, resource }) => {
    const uri = String(fieldsOf(resource)['uri']);
    const json = type !== 'resource' || uri.startsWith('ui://') ? '' : JSON.stringify(resource);
    return type !== 'text' && !(isLarge(json) && left.push([`the resource ${uri}`, json]));
  });
  const structure = JSON.stringify(structuredContent) ?? '';
  const isStructureLeft = isLarge(structure);
  const isRepeated = isStructureLeft && isSaidBy(structuredContent, text, blocks);
  if (isStructureLeft && !isRepeated) left.push(['the structured content', structure]);
  const isCut = chars === undefined ? isLonger(text, limit) : text.length > chars;
  if (!isCut && left.length === 0)
    return isRepeated ? { ...rest, content, ...(_meta !== undefined && { _meta }) } : undefined;
  const all = Buffer.from(text);
  const told = Math.min(limit, chars ?? limit);
  const head = isCut ? borderBefore(all, Math.ceil(told * share)) : all.length;
  const tail = isCut ? borderAfter(all, all.length - Math.floor(told * (1 - share))) : all.length;
  const whole = Buffer.from([text, ...left.map(([, json]) => json)].join('\n'));
  const id = keep(whole);
  const words = left.map(
    ([what, json]) => ` Left out: ${what}, ${Buffer.byteLength(json)} bytes of JSON behind the text.`,
  );
  if (isRepeated) words.push(' The structured content says the same.');
  if (isCut)
    words.unshift(` Of ${all.length} bytes of text the first ${head} and the last ${all.length - tail} follow.`);
  const ours = { handle: id, bytes: whole.length, head, tail };
  const call = JSON.stringify({ handle: id, from: isCut ? head : all.length + 1 });
  const note = `(unwedge: too large to be told whole.${words.join('')} Read on by ${readResultTool.name} ${call}.)\n`;
  const middle = `\n[${tail - head} bytes are left out here, from ${head} to ${tail}]\n`;
  // For whom a text is, and how much it matters, holds for what is told of it.
  const cut = [
    { ...texts[0], text: all.toString('utf8', 0, head) },
    textBlock(middle),
    { ...texts.at(-1), text: all.toString('utf8', tail) },
  ];
  return {
    ...rest,
    content: [textBlock(note), ...(isCut ? cut : texts), ...others],
    ...(!isStructureLeft && { structuredContent }),
    _meta: { ...meta, 'unwedge/result-of-server': theirs, 'unwedge/result': ours },
  };
}

/** Whether what stands beside structured content says the same as it, or as its one field: as most servers have it, for clients that know none. */
function isSaidBy(structured: unknown, text: string, blocks: readonly McpParams[]): boolean {
  const said = [JSON.stringify(text), JSON.stringify(blocks), compact(text)];
  const [field, ...more] = Object.values(fieldsOf(structured));
  const values = more.length > 0 ? [structured] : [structured, field, Array.isArray(field) && field.join('\n')];
  return values.some((value) => said.includes(JSON.stringify(value)));
}

function compact(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return '';
  }
}

/** A page of UTF-8 from anywhere in a text: its characters are whole, and its last line where one ends near. @param isLast - it ends with the text. */
export function pageIn(part: Buffer, isLast: boolean): { readonly start: number; readonly end: number } {
  const start = characterAt(part, 0, 1);
  return { start, end: isLast ? part.length : Math.max(start, borderBefore(part, part.length)) };
}

const textBlock = (text: string): McpParams => ({ type: 'text', text });

/** Counts bytes only where that can matter. */
const isLonger = (text: string, limit: number): boolean => text.length * 3 > limit && Buffer.byteLength(text) > limit;

/** The last border up to a place: of a line if one is near, else of a character, the last of a part being taken for broken. */
function borderBefore(text: Buffer, place: number): number {
  const line = text.lastIndexOf('\n', place - 1) + 1;
  return line > place * share ? line : characterAt(text, Math.min(place, text.length - 1), -1);
}

function borderAfter(text: Buffer, place: number): number {
  const line = text.indexOf('\n', place) + 1;
  return line > 0 && line - place < (text.length - place) * (1 - share) ? line : characterAt(text, place, 1);
}

function characterAt(text: Buffer, place: number, step: 1 | -1): number {
  let at = place;
  while (((text[at] ?? 0) & 0xc0) === 0x80) at += step;
  return at;
}
