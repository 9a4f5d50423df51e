/** Longest message that is taken from the app-server, in bytes. */
export const maxMessageBytes = 100 * 1024 * 1024;

/** Lines in a row that are no messages before the connection counts as unhealthy. */
export const maxMalformedLines = 10;

/** Time that an app-server that is well may take to list a thread, in ms. */
export const healthMs = 5000;

const seconds = (count: number): number => count * 1000;

/** Returns how long the answer to a request may take, in ms. */
export function requestLimitMs(method: string, params?: Readonly<Record<string, unknown>>): number {
  if (method === 'turn/start') return seconds(300);
  if (method === 'command/exec') {
    const own = params?.['timeoutMs'];
    return typeof own === 'number' && Number.isFinite(own) && own > 0 ? own : seconds(300);
  }
  return seconds(method.startsWith('config/') ? 10 : 30);
}

/** Fields of parameters that name things and hold no words of anybody. */
const harmless: ReadonlySet<string> = new Set([
  'approvalPolicy',
  'cursor',
  'effort',
  'excludeTurns',
  'expectedTurnId',
  'forceReload',
  'includeTurns',
  'limit',
  'model',
  'modelProvider',
  'sandbox',
  'threadId',
  'timeoutMs',
  'turnId',
]);

/** Parameters as they may be told: what names things stays, the rest is marked as left out. */
export function tellableParams(params: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const told = Object.entries(params ?? {}).map(([name, value]): [string, unknown] => {
    const simple = typeof value === 'string' ? value.length <= 200 : typeof value === 'number' || value === null;
    return [name, harmless.has(name) && (simple || typeof value === 'boolean') ? value : '[left out]'];
  });
  return Object.fromEntries(told);
}

/** Returns what a user says, as the protocol takes it. */
export function inputParts(
  input: string | readonly Readonly<Record<string, unknown>>[],
): readonly Readonly<Record<string, unknown>>[] {
  const parts = typeof input === 'string' ? [{ type: 'text', text: input }] : input;
  // Some versions do not fill it in.
  return parts.map((part) => (part['type'] === 'text' ? { text_elements: [], ...part } : part));
}
