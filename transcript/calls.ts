import { recordIn, textIn } from '../src/protocol/face.ts';

/** A tool call in a history. */
export interface Call {
  /** As it stands; empty where there is none. */
  readonly id: string;
  /** Key that results are found by: the id, with what else tells calls of one id apart. @defaultValue the id */
  readonly key?: string | undefined;
  readonly tool: string | undefined;
  /** Input that is asked for. Two calls of one id that ask for the same are one that is told twice. */
  readonly input: unknown;
  /** True where the model was cut off while it wrote it. Such a call was never made, unless it has a result. */
  readonly isPartial?: boolean | undefined;
  /** Place of the message or item it is in. */
  readonly at: number;
}

/** A result in a history. */
export interface Result {
  readonly id: string;
  /** @defaultValue the id */
  readonly key?: string | undefined;
  /** Name of its tool, where it says so. */
  readonly tool?: string | undefined;
  readonly at: number;
  /** True where it only stands for a missing one. */
  readonly synthetic: boolean;
  /** Content, to compare duplicates. */
  readonly content: unknown;
  /** The call that it names by more than an id. */
  readonly owner?: Call | undefined;
  /** Tells the calls that it may answer, where an id does not say. @defaultValue any */
  readonly fits?: ((call: Call) => boolean) | undefined;
}

/** An id as it stands in a history; some programs write numbers. */
export function idIn(value: unknown): string {
  return Number.isFinite(value) ? String(value) : (textIn(value) ?? '');
}

/** Returns what a JSON text says, or the text itself when it is none. */
export function parsed(text: unknown): unknown {
  if (typeof text !== 'string') return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Tells calls of one id that ask for the same. */
export function isSame(call: Call): (other: Call) => boolean {
  return (other) => other.tool === call.tool && asText(other.input) === asText(call.input);
}

/** A text that is the same for values that differ in the order of their fields alone. */
export function asText(value: unknown): string {
  const sorted = (_name: string, each: unknown): unknown => {
    const record = recordIn(each);
    if (record === undefined) return each;
    return Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
  };
  // There is no text of `undefined`.
  return JSON.stringify([value], sorted);
}

/** The finding of a result that loses against another one of its call. */
export function duplicate(call: Omit<Call, 'at' | 'input'>, loser: Result, winner: Result | undefined) {
  const differs = !loser.synthetic && JSON.stringify(loser.content) !== JSON.stringify(winner?.content);
  return { rule: 'duplicate', at: loser.at, callId: call.id, tool: call.tool, ...(differs && { differs }) } as const;
}

const another = '[Another result of the same call:]';

/**
 * The content of a result with what other results of its call say. Where the two cannot stand in one, as two screenshots cannot, it is left as it is.
 * @param part - what a text is among others.
 */
export function joined(content: unknown, more: readonly unknown[], part: (text: string) => object): unknown {
  return more.reduce((said, other) => {
    if (typeof said === 'string' && typeof other === 'string') return [said, another, other].join('\n\n');
    const [first, second] = [partsOf(said, part), partsOf(other, part)];
    return first === undefined || second === undefined ? said : [...first, part(another), ...second];
  }, content);
}

function partsOf(content: unknown, part: (text: string) => object): readonly unknown[] | undefined {
  if (typeof content === 'string') return content === '' ? [] : [part(content)];
  return Array.isArray(content) ? content : undefined;
}
