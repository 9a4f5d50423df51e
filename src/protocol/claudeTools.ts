import type { HeardCalls } from '../policy/spinning/heardCalls.ts';
import { type AgentEffects, blocksIn, CallCount, recordIn, textIn, toldAnswer } from './agentReport.ts';
import { textHash } from './textHash.ts';

type Message = Readonly<Record<string, unknown>>;

/** Tools that only look. What is not listed may change something. */
export const claudeReads: ReadonlySet<string> = new Set([
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

/** Words by which Claude says that a tool was declined before it began. Tools that it cut short (`interrupted`, `cancelled`) are not among them. */
const declined: ReadonlySet<string> = new Set([
  'permission-rule',
  'automode-blocked',
  'automode-unavailable',
  'automode-parsing-error',
]);

/** More than one answer asks for at once. An answer that asks for more is taken as one that acts. */
const mostPending = 1000;

/** Fate of the tools that Claude asked for, in memory bounded by how many it asks for at once. */
export class ToolUses {
  /** By their ids: what was asked for, and whether that could change something. */
  readonly #pending = new Map<string, { readonly asked: string; readonly acts: boolean }>();
  readonly #asked = new CallCount();
  readonly #ear: HeardCalls | undefined;
  #ran = false;

  constructor(ear?: HeardCalls) {
    this.#ear = ear;
  }

  /** Effects of those that ran, or may be running: what could change something. */
  get effects(): AgentEffects {
    return this.#ran || [...this.#pending.values()].some(({ acts }) => acts) ? 'possible' : 'none';
  }

  get count(): number {
    return this.#asked.count;
  }

  /** An assistant's message: its tools start at once. */
  asked(message: Message): void {
    for (const block of blocksIn(message)) {
      if (block['type'] !== 'tool_use') continue;
      const id = textIn(block['id']);
      this.#asked.take(id);
      const tool = textIn(block['name']) ?? '';
      const acts = !claudeReads.has(tool);
      const effect = acts ? undefined : 'readOnly';
      this.#ear?.called(id, { tool, input: block['input'], effect }, message['parent_tool_use_id']);
      const asked = textHash(JSON.stringify([block['name'], block['input']]));
      const other = id === undefined ? undefined : this.#pending.get(id);
      // A result does not say which of two calls under one id it is of.
      if (other !== undefined && other.asked !== asked) this.#ran ||= acts || other.acts;
      if (id !== undefined && this.#pending.size < mostPending) this.#pending.set(id, { asked, acts });
      else this.#ran ||= acts;
    }
  }

  /** It is told that the work of a tool began: whatever is said of it later, it may have done something. */
  began(id: unknown): void {
    const known = textIn(id) ?? '';
    if (this.#pending.get(known)?.acts === true) this.#ran = true;
    this.#pending.delete(known);
  }

  /** A user's message: the results. */
  answered(message: Message): void {
    const meta = message['tool_result_meta'];
    const about = Array.isArray(meta) ? meta.map(recordIn) : [];
    for (const block of blocksIn(message)) {
      const id = textIn(block['tool_use_id']) ?? '';
      if (block['type'] === 'tool_result')
        this.#ear?.answered(id, toldAnswer(block['is_error'] !== true, block['content']));
      const acted = this.#pending.get(id)?.acts === true;
      if (block['type'] !== 'tool_result' || !this.#pending.delete(id)) continue;
      if (
        acted &&
        !neverBegan(
          block,
          about.find((each) => each?.['id'] === id),
        )
      )
        this.#ran = true;
    }
  }

  /** It was denied, so there is nothing it did. */
  notRun(id: unknown): void {
    this.#pending.delete(textIn(id) ?? '');
  }
}

/** Tells whether a result says that its tool never began. @param about - what is told of the result beside its text. */
function neverBegan(result: Message, about: Message | undefined): boolean {
  const kind = textIn(about?.['non_execution_kind']);
  // By a signal Claude calls what it had under way rejected, too: only a decision was one.
  if (kind === 'user-rejected') return recordIn(about?.['permission_decision'])?.['decision'] === 'reject';
  if (kind !== undefined) return declined.has(kind);
  const error = /^<tool_use_error>(?!Error calling tool)/;
  return error.test(textIn(result['content']) ?? '');
}
