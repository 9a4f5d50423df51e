import { blocksIn, longestAnswer, recordIn, textIn } from './agentReport.ts';

type Message = Readonly<Record<string, unknown>>;

/** Claude's own words in the first line of such an order; what a hook or a task says to it stands in messages of the same form. */
const cutOff = /^(?![\w ]*\bhook\b)[^\n<]{0,200}?\b(?:cut off|token limit|mid-stream)\b/i;
/** The order to go on behind what was said already: its stream was cut, or its limit of tokens reached. */
const goesOn = /\b(?:resume directly|continue from where you left off|pick up mid-thought|resume where)\b/i;
/** Orders after which the next message is the whole again. */
const beginsAgain = /\b(?:from the start|again|the whole (?:answer|summary))\b/i;
/** All of it stands at the beginning. */
const longestOrder = 500;
/** Shortest text that is said again and no chance, in characters. */
const shortestRepeat = 40;

/**
 * The last answer of Claude in all its pieces. Where a request was cut off behind a finished text, Claude asks on and gives the last piece
 * alone as its `result` (seen with 2.1.332); between the pieces stands a message of the user that it wrote itself.
 */
export class ClaudeAnswer {
  #pieces: string[] = [];
  #length = 0;
  /** The message that the last piece is of. */
  #message: unknown;
  #isGoingOn = false;
  #isJoined = false;
  /** Its result has come: what is said now is another answer. */
  #isOver = false;

  /** Takes one message of the stream, or of a session on disk. */
  take(message: Message): void {
    const { type } = message;
    if (typeof message['parent_tool_use_id'] === 'string' || message['isSidechain'] === true) return;
    if (type !== 'assistant' && type !== 'user' && type !== 'result' && type !== 'conversation_reset') return;
    if (this.#isOver || type === 'conversation_reset') this.#begin();
    this.#isOver = type === 'result';
    if (type === 'assistant') this.#said(message);
    else if (type === 'user') this.#asked(message);
  }

  /**
   * Its pieces as one, up to 1 MB; undefined when it came in one piece, or is another answer than the result has.
   * @param last - what the result says: the last piece, which may have come with it alone.
   */
  joined(last = ''): string | undefined {
    if (this.#pieces.length === 0) return undefined;
    const whole = this.#pieces.join('');
    // Nothing came behind the order, and the result may be what came before it.
    if (this.#isGoingOn) return textIn(last === whole || last === this.#pieces.at(-1) ? whole : whole + last);
    const isOf = this.#length >= longestAnswer || whole.trim().endsWith(last.trim());
    return this.#isJoined && isOf ? textIn(whole) : undefined;
  }

  #said(message: Message): void {
    const { id, model } = recordIn(message['message']) ?? {};
    // An answer that a failed request left is none.
    if (message['is_api_error_message'] === true || message['isApiErrorMessage'] === true || model === '<synthetic>')
      return;
    for (const block of blocksIn(message)) {
      if (block['type'] === 'tool_use') this.#begin();
      else if (block['type'] === 'text' && typeof block['text'] === 'string') this.#piece(block['text'], id);
    }
  }

  #piece(text: string, id: unknown): void {
    if (this.#isGoingOn ? this.#isSaidAgain(text) : id === undefined || id !== this.#message) this.#begin();
    else if (this.#isGoingOn && this.#pieces.length > 0) this.#isJoined = true;
    this.#isGoingOn = false;
    this.#message = id;
    if (this.#length >= longestAnswer) return;
    this.#pieces.push(text);
    this.#length += text.length;
  }

  /** Tells a text that begins anew, against its order, from one that goes on. */
  #isSaidAgain(text: string): boolean {
    return this.#length >= shortestRepeat && text.startsWith(this.#pieces.join(''));
  }

  #asked(message: Message): void {
    if (isGoingOn(message)) this.#isGoingOn = true;
    else this.#begin();
  }

  #begin(): void {
    this.#pieces = [];
    this.#length = 0;
    this.#message = undefined;
    this.#isGoingOn = false;
    this.#isJoined = false;
  }
}

/** Tells whether Claude says to itself, by this message, to go on behind what it said before. */
export function isGoingOn(message: Message): boolean {
  if (message['isSynthetic'] !== true && message['isMeta'] !== true) return false;
  const order = orderIn(message).slice(0, longestOrder);
  // The order for a case in which nothing of the answer survived does not hold behind a text that did.
  return (
    cutOff.test(order) && goesOn.test(order) && !beginsAgain.test(order.replace(/if none of it survived[\s\S]*/i, ''))
  );
}

function orderIn(message: Message): string {
  const content = recordIn(message['message'])?.['content'];
  if (typeof content === 'string') return content;
  const [first] = blocksIn(message);
  return typeof first?.['text'] === 'string' ? first['text'] : '';
}
