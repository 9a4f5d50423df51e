import { type AgentEffects, recordIn, textIn } from './agentReport.ts';

type Message = Readonly<Record<string, unknown>>;

/** Tools that only look. What is not listed may change something. */
const readOnly: ReadonlySet<string> = new Set([
  'Glob',
  'Grep',
  'LS',
  'ListAgents',
  'NotebookRead',
  'Read',
  'TodoWrite',
  'ToolSearch',
  'WebFetch',
  'WebSearch',
]);

/** More than one answer asks for at once. An answer that asks for more is taken as one that acts. */
const mostPending = 1000;

/** What became of the tools that Claude asked for, in memory bounded by how many it asks for at once. */
export class ToolUses {
  readonly #pending = new Set<string>();
  #ran = false;

  /** Whether one ran, or may be running, that could change something. */
  get effects(): AgentEffects {
    return this.#ran || this.#pending.size > 0 ? 'possible' : 'none';
  }

  /** An assistant's message: its tools start at once. */
  asked(message: Message): void {
    for (const block of blocksOf(message)) {
      const id = textIn(block['id']);
      if (block['type'] !== 'tool_use' || readOnly.has(textIn(block['name']) ?? '')) continue;
      if (id === undefined || this.#pending.size >= mostPending) this.#ran = true;
      else this.#pending.add(id);
    }
  }

  /** A user's message: the results. */
  answered(message: Message): void {
    const meta = message['tool_result_meta'];
    for (const each of Array.isArray(meta) ? meta.map(recordIn) : []) {
      if (each?.['non_execution_kind'] !== undefined) this.notRun(each['id']);
    }
    for (const block of blocksOf(message)) {
      if (block['type'] !== 'tool_result') continue;
      const refused = textIn(block['content'])?.startsWith('<tool_use_error>') === true;
      if (this.#pending.delete(textIn(block['tool_use_id']) ?? '') && !refused) this.#ran = true;
    }
  }

  /** It was denied, so there is nothing it did. */
  notRun(id: unknown): void {
    this.#pending.delete(textIn(id) ?? '');
  }
}

function blocksOf(message: Message): readonly Message[] {
  const content = recordIn(message['message'])?.['content'];
  return Array.isArray(content) ? content.map(recordIn).filter((each) => each !== undefined) : [];
}
