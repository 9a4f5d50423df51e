import type { ReadEvent } from './runReader.ts';

/** Comment that every reader of server-sent events skips. */
export const sseComment = ':\n\n';

/** An event as a server-sent event; where events before it are lost, one that says so comes first. */
export function sseFrame({ event: { number, type, data }, expected }: ReadEvent): string {
  const frame = message(number, { type, data });
  if (number <= expected) return frame;
  return message(number - 1, { type: 'workflow_missed', data: { from: expected, to: number - 1 } }) + frame;
}

// JSON has no line ends of its own, and so takes one line of data.
function message(id: number, content: object): string {
  return `id: ${id}\ndata: ${JSON.stringify(content)}\n\n`;
}
