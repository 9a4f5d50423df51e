import type { LayerWhy } from '../../src/sessions/face.ts';

/**
 * Asks other programs what is under way below an agent: calls of tools, and requests of these conversations to a model. What rejects, or is slow, changes
 * nothing.
 */
export type AskLayers = (conversations: readonly string[]) => Promise<readonly LayerWhy[]>;

/** Most time between two questions, after which silence is one, and for which content counts, in ms. */
export const mostEveryMs = 30_000;

/**
 * Judges a silent prompt by what is below it: where that gets on, so does the prompt; where the model's content is seen, a third of its limit will do.
 * @param silentMs - for how long the prompt is silent. @param idleMs - its limit.
 */
export function judgeLayers(
  layers: readonly LayerWhy[],
  { silentMs: promptMs, idleMs }: { readonly silentMs: number; readonly idleMs: number },
): 'gets on' | 'wedged' | undefined {
  const everyMs = Math.min(mostEveryMs, idleMs / 3);
  // What has just begun says nothing: an agent that asks for the same again and again gets nowhere. Nor does a call that nothing ends.
  const getsOn = ({ kind, sinceMs, silentMs, limitInMs }: LayerWhy): boolean =>
    sinceMs >= everyMs && (kind === 'call' ? isNumber(limitInMs) : isNumber(silentMs) && silentMs < everyMs);
  // A limit of its own that comes before that of the prompt is waited for.
  const isWedged = ({ kind, silentMs, limitInMs }: LayerWhy): boolean =>
    kind === 'stream' &&
    isNumber(silentMs) &&
    Math.min(silentMs, promptMs) >= idleMs / 3 &&
    !(isNumber(limitInMs) && limitInMs <= idleMs - promptMs);
  if (layers.some(getsOn)) return 'gets on';
  return layers.length > 0 && layers.every(isWedged) ? 'wedged' : undefined;
}

/** Infinite ones are null in JSON. */
const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value);
