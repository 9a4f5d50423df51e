import { type McpId, type Span, memberSpan, replaced } from '../../src/protocol/mcp/face.ts';

/** Changes to single members of a message. All else of the text stays as it was written: numbers that no parser keeps, order, spaces. */

/** An object with another value of one of its members. */
export function withMember(text: string, name: string, value: string, from = 0): string {
  const span = memberSpan(text, name, from);
  return span === undefined ? text : text.slice(0, span.start) + JSON.stringify(value) + text.slice(span.end);
}

/** An object with one more member, before the others. */
export const withNewMember = (text: string, name: string, value: string): string =>
  inserted(text, { start: text.indexOf('{'), end: text.length }, `${JSON.stringify(name)}:${JSON.stringify(value)}`);

/** The notification about a request (`notifications/cancelled`) with another `requestId`. */
export function withRequestId(text: string, id: McpId): string {
  const params = memberSpan(text, 'params');
  return params === undefined ? text : replaced(text, memberSpan(text, 'requestId', params.start), id);
}

/** The request with a progress token, where it can hold one and has none; undefined otherwise. */
export function withProgressToken(text: string, token: string): string | undefined {
  const params = memberSpan(text, 'params');
  if (params === undefined || text[params.start] !== '{') return undefined;
  const member = `"progressToken":${JSON.stringify(token)}`;
  const meta = memberSpan(text, '_meta', params.start);
  if (meta === undefined) return inserted(text, params, `"_meta":{${member}}`);
  if (text[meta.start] !== '{' || memberSpan(text, 'progressToken', meta.start) !== undefined) return undefined;
  return inserted(text, meta, member);
}

/** The request with members of its `_meta` that are texts, in place of those of their names, where it can hold any. */
export function withMetaTexts(text: string, members: Readonly<Record<string, string>>): string {
  let changed = text;
  for (const [name, value] of Object.entries(members)) {
    const params = memberSpan(changed, 'params');
    if (params === undefined || changed[params.start] !== '{') return changed;
    const member = `${JSON.stringify(name)}:${JSON.stringify(value)}`;
    const meta = memberSpan(changed, '_meta', params.start);
    if (meta === undefined) changed = inserted(changed, params, `"_meta":{${member}}`);
    else if (changed[meta.start] === '{') {
      const known = memberSpan(changed, name, meta.start);
      changed = known === undefined ? inserted(changed, meta, member) : replaced(changed, known, value);
    }
  }
  return changed;
}

/**
 * The request with a value at a place in its params, given as the names that lead there. A text that is there already stays; what is no object
 * on the way gives way to one.
 */
export function withParamText(text: string, path: readonly string[], value: unknown): string {
  const params = memberSpan(text, 'params');
  return params === undefined || text[params.start] !== '{' ? text : withTextAt(text, params, path, value);
}

function withTextAt(text: string, object: Span, [name = '', ...rest]: readonly string[], value: unknown): string {
  const known = memberSpan(text, name, object.start);
  const made = rest.reduceRight<unknown>((inner, each) => ({ [each]: inner }), value);
  if (known === undefined) return inserted(text, object, `${JSON.stringify(name)}:${JSON.stringify(made)}`);
  if (rest.length > 0 && text[known.start] === '{') return withTextAt(text, known, rest, value);
  if (rest.length === 0 && known.end > known.start + 2 && text[known.start] === '"') return text;
  return text.slice(0, known.start) + JSON.stringify(made) + text.slice(known.end);
}

/** The progress notification with another token. */
export function withNotifiedToken(text: string, token: McpId): string {
  const params = memberSpan(text, 'params');
  return params === undefined ? text : replaced(text, memberSpan(text, 'progressToken', params.start), token);
}

/** The message with another value of a member that its `_meta` has. */
export function withMeta(text: string, member: string, value: McpId): string {
  const meta = metaSpan(text);
  return meta === undefined ? text : replaced(text, memberSpan(text, member, meta.start), value);
}

/** The answer to a call of a tool with one more text: a part of what its result holds, or the end of what its error says. */
export function withText(text: string, added: string): string {
  const within = (member: string, name: string): Span | undefined =>
    memberSpan(text, name, memberSpan(text, member)?.start ?? text.length);
  const span = within('result', 'content') ?? within('error', 'message');
  if (span === undefined || !'"]'.includes(text.charAt(span.end - 1))) return text;
  const [before, rest] = [text.slice(0, span.end - 1), text.slice(span.end - 1)];
  if (rest.startsWith('"')) return `${before} ${JSON.stringify(added).slice(1, -1)}${rest}`;
  const comma = before.slice(span.start + 1).trim() === '' ? '' : ',';
  return `${before}${comma}${JSON.stringify({ type: 'text', text: added })}${rest}`;
}

function metaSpan(text: string): Span | undefined {
  const params = memberSpan(text, 'params');
  return params === undefined ? undefined : memberSpan(text, '_meta', params.start);
}

/** Puts a member into an object, before the others. */
function inserted(text: string, { start, end }: Span, member: string): string {
  const isEmpty = text.slice(start + 1, end - 1).trim() === '';
  return `${text.slice(0, start + 1)}${member}${isEmpty ? '' : ','}${text.slice(start + 1)}`;
}
