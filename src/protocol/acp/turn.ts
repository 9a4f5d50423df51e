import { type McpParams, fieldsOf } from '../mcp/message.ts';
import { textHash } from '../textHash.ts';
import { isNotice, threadSign } from './signs.ts';

/** Updates that tell what was said or done in a conversation; what else there is tells how things stand. */
const conversation: ReadonlySet<unknown> = new Set([
  'user_message_chunk',
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
  'plan',
  'plan_update',
]);
/** Characters of an answer that are kept: an error text is shorter. */
const keptText = 4000;
/** Tools that are told apart; a turn has fewer at once. */
const mostTools = 1000;
/** Tools that are named in a message; the others are counted. */
const mostNamed = 5;

/** A tool call of a turn, as far as it was told. */
interface ToolCall {
  readonly title: string;
  status: string;
  /** Hash of the last update. */
  last: string;
  /** When it was first told of, and when it last moved, monotonic, in ms. */
  readonly beganAt: number;
  movedAt: number;
}

/** Tells whether an update of a session is part of its conversation: a client that has it must not be shown it again. */
export const isConversation = (update: McpParams): boolean => conversation.has(update['sessionUpdate']);

/** What an agent told of one turn: enough to see whether it gets on, what it did, and whether its end is one. */
export class AcpTurn {
  readonly #tools = new Map<string, ToolCall>();
  readonly #updates = new Map<string, string>();
  #text = '';
  #isLong = false;
  #hasOther = false;
  #hasThought = false;
  #toolCount = 0;
  /** The last piece of text, where nothing was told after it. */
  #last = '';
  #isFailed = false;

  /** True once anything of the turn was told: what is sent again then may be done twice. */
  get begun(): boolean {
    return this.#text !== '' || this.#isLong || this.#hasOther || this.#hasThought;
  }

  /** The answer where it is all that was told, up to 4,000 characters; undefined where there is more, or nothing. */
  get onlyText(): string | undefined {
    return this.#hasOther || this.#isLong || this.#text.trim() === '' ? undefined : this.#text;
  }

  /** The piece of text that was told last of all, up to 4,000 characters; undefined where something else was. */
  get lastText(): string | undefined {
    return this.#last === '' ? undefined : this.#last;
  }

  /** True where the agent has said, in a form of its own, that the turn failed. */
  get isFailed(): boolean {
    return this.#isFailed;
  }

  /** Takes an update. @returns whether the turn gets on by it. */
  heard(update: McpParams, now: number): boolean {
    const sign = threadSign(update);
    if (sign === 'failed') this.#isFailed = true;
    else if (sign === 'active') this.#isFailed = false;
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        return this.#said(update['content']);
      case 'agent_thought_chunk':
        this.#hasThought ||= hasContent(update['content']);
        return hasContent(update['content']);
      case 'tool_call':
      case 'tool_call_update':
        return this.#toolMoved(update, now);
      case 'plan':
      case 'plan_update':
        this.#hasOther = true;
        return this.#isNews('plan', update);
      default:
        return false;
    }
  }

  /** The agent asked its client for something: a file, a terminal, a permission. */
  asked(): void {
    this.#hasOther = true;
  }

  /** Ids of the tools that are under way, as far as was told. */
  get openTools(): readonly string[] {
    return [...this.#tools].flatMap(([id, { status }]) => (isOpen(status) ? [id] : []));
  }

  /** Until when a tool under way excuses silence, monotonic, in ms. @param toolMs - its own limit. Undefined without one. */
  excusedUntil(toolMs: number): number | undefined {
    let last: number | undefined;
    for (const { status, movedAt } of this.#tools.values())
      if (isOpen(status)) last = Math.max(last ?? 0, movedAt + toolMs);
    return last;
  }

  /** The tool under way that moved last. */
  get openTool(): { readonly title: string; readonly beganAt: number } | undefined {
    const open = [...this.#tools.values()].filter(({ status }) => isOpen(status));
    return open.toSorted((one, other) => other.movedAt - one.movedAt)[0];
  }

  /** What it did, in words, for who is told that its end is lost; empty where it told of no tool. */
  get deeds(): string {
    if (this.#toolCount === 0) return '';
    const tools = [...this.#tools.values()];
    const open = tools.filter(({ status }) => isOpen(status));
    const shown = open.slice(0, mostNamed).map(({ title }) => title);
    const more = open.length > shown.length ? ` and ${open.length - shown.length} more` : '';
    const began = `it had told of ${this.#toolCount} tool ${this.#toolCount === 1 ? 'call' : 'calls'}`;
    return open.length === 0
      ? `${began}, all of them over`
      : `${began}; the outcome of ${open.length} is not known (${shown.join(', ')}${more})`;
  }

  #said(content: unknown): boolean {
    const { type, text } = fieldsOf(content);
    if (type !== 'text') {
      this.#hasOther = true;
      return hasContent(content);
    }
    if (typeof text !== 'string' || text === '') return false;
    if (isNotice(text)) return false;
    this.#last = text.slice(0, keptText);
    this.#isLong ||= this.#text.length + text.length > keptText;
    if (!this.#isLong) this.#text += text;
    return true;
  }

  #toolMoved(update: McpParams, now: number): boolean {
    const { toolCallId, title, status } = update;
    const id = typeof toolCallId === 'string' ? toolCallId : '';
    this.#hasOther = true;
    this.#last = '';
    const last = textHash(JSON.stringify(update));
    const known = this.#tools.get(id);
    if (known === undefined) {
      this.#toolCount++;
      if (this.#tools.size >= mostTools) this.#forgetOne();
      const shown = typeof title === 'string' && title !== '' ? title.slice(0, 60) : id.slice(0, 60);
      this.#tools.set(id, { title: shown, status: textOr(status, 'pending'), last, beganAt: now, movedAt: now });
      return true;
    }
    // An agent may tell the same every second to show that it lives; that is no news of the tool.
    if (known.last === last) return false;
    known.last = last;
    known.status = textOr(status, known.status);
    known.movedAt = now;
    return true;
  }

  #isNews(name: string, update: McpParams): boolean {
    const hash = textHash(JSON.stringify(update));
    if (this.#updates.get(name) === hash) return false;
    this.#updates.set(name, hash);
    return true;
  }

  #forgetOne(): void {
    const over = [...this.#tools].find(([, { status }]) => !isOpen(status)) ?? [...this.#tools][0];
    if (over !== undefined) this.#tools.delete(over[0]);
  }
}

const isOpen = (status: string): boolean => status === 'pending' || status === 'in_progress';

const textOr = (value: unknown, other: string): string => (typeof value === 'string' ? value : other);

/** Tells whether a block says something: an empty text does not. */
function hasContent(content: unknown): boolean {
  const { type, text } = fieldsOf(content);
  return type === 'text' ? typeof text === 'string' && text !== '' : type !== undefined;
}
