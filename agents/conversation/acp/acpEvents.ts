import { noteField } from '../../../src/protocol/acp/face.ts';
import type { AgentEffects } from '../../../src/protocol/face.ts';
import { type McpParams, fieldsOf } from '../../../src/protocol/mcp/face.ts';
import { longestAnswer } from '../../../src/protocol/face.ts';
import { actionOf } from '../agentAction.ts';
import type { Sink } from '../agentStream.ts';
import { createTextFlow } from '../agentText.ts';

/** Kinds of tools that only look, as the protocol names them. */
const readOnly: ReadonlySet<unknown> = new Set(['read', 'search', 'think', 'fetch']);

/** A turn of an agent, heard update by update: its events, and what is known of it at its end. */
export class AcpTurnEvents {
  readonly #sink: Sink;
  readonly #flow: ReturnType<typeof createTextFlow>;
  readonly #tools = new Map<string, { readonly tool: string; isOver: boolean }>();
  #text = '';
  #isBehindTool = false;
  #messageId: unknown = undefined;
  #effects: AgentEffects = 'none';

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#flow = createTextFlow((event) => {
      if (event.type === 'text') this.#said(event.text);
      sink(event);
    });
  }

  /** The answer: what was said last, behind all tools. */
  get text(): string {
    return this.#text;
  }

  get effects(): AgentEffects {
    return this.#effects;
  }

  get tools(): number {
    return this.#tools.size;
  }

  /** Takes an update of the session. Never throws. */
  heard(update: McpParams): void {
    const { text } = fieldsOf(update['content']);
    switch (update['sessionUpdate']) {
      case 'agent_message_chunk':
        if (fieldsOf(update['_meta'])[noteField] === true) {
          this.#sink({ type: 'notice', message: String(text).trim() });
          break;
        }
        if (update['messageId'] !== this.#messageId) this.#flow.begin();
        this.#messageId = update['messageId'];
        if (typeof text === 'string') this.#flow.say(text);
        break;
      case 'agent_thought_chunk':
        if (typeof text === 'string' && text !== '') this.#sink({ type: 'reasoning', text });
        break;
      case 'tool_call':
      case 'tool_call_update':
        this.#tool(update);
    }
  }

  #said(text: string): void {
    if (this.#isBehindTool) this.#text = '';
    // An empty line has kept it apart.
    const piece = this.#isBehindTool && text === '\n\n' ? '' : text;
    this.#isBehindTool = false;
    if (this.#text.length < longestAnswer) this.#text += piece;
  }

  #tool(update: McpParams): void {
    const { toolCallId, kind, status } = update;
    const id = String(toolCallId);
    const known = this.#tools.get(id);
    const { tool, action } = namesOf(update);
    const call = known ?? { tool, isOver: false };
    // A tool of no told kind may be anything, and its kind may be told late.
    if ((known === undefined || typeof kind === 'string') && !readOnly.has(kind)) this.#effects = 'possible';
    if (known === undefined) {
      this.#tools.set(id, call);
      this.#flow.begin();
      this.#isBehindTool = true;
      this.#sink({ type: 'tool.started', id, tool, action });
    }
    if (call.isOver || (status !== 'completed' && status !== 'failed')) return;
    call.isOver = true;
    this.#sink({ type: 'tool.ended', id, tool: call.tool, ok: status === 'completed' });
  }
}

/** Names of a tool call: the protocol has a kind for it (`edit`, `execute`), and a title for people, but no name. */
export function namesOf({ kind, title, rawInput }: McpParams): { readonly tool: string; readonly action: string } {
  const shown = typeof title === 'string' ? title : '';
  const isKind = typeof kind === 'string' && kind !== 'other';
  if (!isKind) return { tool: shown === '' ? 'tool' : shown, action: actionOf(rawInput) };
  return { tool: kind, action: shown === '' ? actionOf(rawInput) : actionOf({ description: shown }) };
}
