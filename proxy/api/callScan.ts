import { parsedJson } from '../../src/policy/text/face.ts';
import { read, readString } from '../../src/policy/failures/face.ts';
import type { Dialect } from './route.ts';

/** Longest arguments of calls that are kept to know whether they are whole, in characters. */
const mostKept = 1024 * 1024;

/** Calls that the client makes; a search of the web is made by the API. */
const ownCall = /"type"\s*:\s*"(?:function|custom_tool|local_shell|shell|apply_patch|computer)_call"/;
/** Parts of a call of Gemini come so, where they are asked for. */
const isPart = /"willContinue"\s*:\s*true/;

/** Finds out whether the call of a tool has come whole in a stream: some clients run it at once. */
export class CallScan {
  readonly #dialect: Dialect;
  #hasWhole = false;
  /** The block of messages that has begun is a call. */
  #isCall = false;
  /** The arguments so far of each call of chat completions, which have no end. */
  readonly #texts = new Map<unknown, string>();
  #kept = 0;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  get hasWhole(): boolean {
    return this.#hasWhole || [...this.#texts.values()].some((text) => parsedJson(text) !== undefined);
  }

  /** Calls that have begun and have no arguments yet, by the index that the API gives them: some clients make them without any, where the stream ends in good order. */
  get bare(): readonly unknown[] {
    return [...this.#texts].filter(([, text]) => text.trim() === '').map(([index]) => index);
  }

  /** An event has come. @param head - the first of its data. */
  event(name: string, head: string): void {
    if (name === 'content_block_start') this.#isCall = /"type"\s*:\s*"tool_use"/.test(head);
    else if (name === 'content_block_stop') this.#hasWhole ||= this.#isCall;
    else if (name === 'response.output_item.done') this.#hasWhole ||= ownCall.test(head);
  }

  /** The data of an event without a name. */
  data(text: string): void {
    if (this.#dialect === 'gemini') this.#hasWhole ||= text.includes('"functionCall"') && !isPart.test(text);
    else if (this.#kept < mostKept && text.includes('"tool_calls"')) this.#chat(text);
  }

  #chat(text: string): void {
    const deltas = read(read(read(read(parsedJson(text), 'choices'), '0'), 'delta'), 'tool_calls');
    if (!Array.isArray(deltas)) return;
    for (const delta of deltas as unknown[]) {
      const more = readString(read(delta, 'function'), 'arguments') ?? '';
      this.#kept += more.length;
      const key = read(delta, 'index');
      this.#texts.set(key, (this.#texts.get(key) ?? '') + more);
    }
  }
}
