import type { ServerSentEvent } from './serverSentEvents.ts';

const lineEnd = /\r\n|\r|\n/;

/**
 * A server-sent event as text, to hand it on: several lines of data stay several, and a type, an id or a time that it has not is left out. Data that
 * is no text is written as JSON.
 * @throws RangeError when its type or its id has several lines; TypeError when its data cannot be written as JSON.
 *
 * @example
 * for await (const event of llm.stream(request).chunks) response.write(eventText(event));
 */
export function eventText({ event, data, id, retry }: ServerSentEvent<unknown>): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  if (text === undefined) throw new TypeError(`Expected \`data\` to be writable as JSON, got ${typeof data}`);
  const told = [field('event', event), field('id', id), field('retry', retry)].join('');
  return `${told}${text
    .split(lineEnd)
    .map((line) => `data: ${line}\n`)
    .join('')}\n`;
}

/** A line of its own in a type or an id would be a field of its own. */
function field(name: string, value: string | number | undefined): string {
  if (value === undefined) return '';
  if (lineEnd.test(String(value))) throw new RangeError(`Expected \`${name}\` to be one line`);
  return `${name}: ${value}\n`;
}
