import { parseRpc } from '../protocol/jsonRpc.ts';

/** Items of a stream are notifications of this method behind the answer to the request. */
const method = 'next';

/** @param json - the item. */
export function encodeItem(json: string): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":${json}}\n`;
}

/** The item in a line, as JSON; undefined when it has none. */
export function readItem(line: string): string | undefined {
  const message = parseRpc(line);
  if (message.kind !== 'notification' || message.method !== method) return undefined;
  return JSON.stringify(message.params);
}
