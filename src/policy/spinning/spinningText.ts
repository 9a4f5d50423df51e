import type { Spinning } from './spinningRule.ts';

const forms = {
  failure: 'and failed alike each time',
  read: 'and was answered alike each time',
  success: 'and was answered alike each time',
} as const;

/** What repeats, for people: `edit was called 6 times with the same arguments and failed alike each time`. */
export function spinningWords(tool: string, { form, count, period }: Spinning): string {
  if (form === 'varied')
    return `${count} of the last 10 calls of ${tool} failed for the same reason, whatever their arguments`;
  const cycle = period === undefined || period === 1 ? '' : `, in a cycle of ${period} calls,`;
  return `${tool} was called ${count} times with the same arguments${cycle} ${forms[form]}`;
}

/** What would change that. */
const ways = {
  failure:
    'The same call again will fail again: change its arguments, mend what it names, use another tool, or say that you cannot go on.',
  read: 'The same call again will be answered the same until something is changed: use what it said, or do the next step.',
  success: '',
  varied: 'Other arguments do not help: mend what it names, use another tool, or say that you cannot go on.',
} as const;

/** The sentence that an agent is told. It begins with a word of its own, so that it is not taken for the answer. */
export function toldText(tool: string, spinning: Spinning): string {
  return `[unwedge: ${spinningWords(tool, spinning)}. ${ways[spinning.form]}]`;
}

/** The text of a refusal, or of an end. @param last - the last answer in a few words, and when it came, in ms since the epoch. */
export function refusedText(
  tool: string,
  spinning: Spinning,
  last: { readonly words: string; readonly at: number } | undefined,
): string {
  const said = last === undefined ? '' : `, last at ${new Date(last.at).toISOString()}: "${last.words}"`;
  const done = spinning.step === 'end' ? 'This is spinning, and is ended here' : 'Not called again';
  return `${done}: ${spinningWords(tool, spinning)}${said}. ${ways[spinning.form]}`;
}
