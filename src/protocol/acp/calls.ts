import type { Spending } from '../../policy/budget.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { HeardCalls } from '../../policy/spinning/heardCalls.ts';
import { keepNewest } from '../../policy/spinning/keepNewest.ts';
import { chosenLimits } from '../../policy/spinning/spinningRule.ts';
import { textIn, toldAnswer } from '../agentReport.ts';
import { fieldsOf, type McpParams } from '../mcp/message.ts';

/** Kinds of tools that are declared as reads. */
const reads: ReadonlySet<unknown> = new Set(['read', 'search', 'fetch']);
/** Calls that are told apart while they are under way, and characters of the output of each; the oldest go first. */
const mostOpen = 1000;
const mostOutput = 10_000;
const noticed = chosenLimits('notice');

/** The calls of a session's tools: each update of one tells what is new of it. */
export class AcpCalls {
  readonly #ear: HeardCalls;
  readonly #open = new Map<unknown, { readonly call: McpParams; readonly output: string }>();

  constructor(ear: HeardCalls) {
    this.#ear = ear;
  }

  /** A prompt begins. */
  mark(): void {
    this.#ear.mark();
  }

  /** Why a prompt is not begun; takes costs of the budget of its session where it may. */
  refusal(costs: Spending): FailureFacts | undefined {
    return this.#ear.refusal(costs);
  }

  /** A prompt was answered. Its usage is told by few: of claude-agent-acp, codex-acp and opencode `inputTokens` are without those of a cache. */
  ended(result: McpParams | undefined): void {
    const usage = fieldsOf(result?.['usage']);
    const count = (name: string): number => (Number.isFinite(usage[name]) ? Math.max(0, Number(usage[name])) : 0);
    const [cacheReadTokens, cacheWriteTokens] = [count('cachedReadTokens'), count('cachedWriteTokens')];
    const inputTokens = count('inputTokens') + cacheReadTokens + cacheWriteTokens;
    // What it thought counts in the total alone.
    const outputTokens = Math.max(count('outputTokens'), count('totalTokens') - inputTokens);
    this.#ear.used({ inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens });
  }

  /** Takes an update. Never throws. */
  heard(update: McpParams): void {
    const { sessionUpdate, toolCallId: id, status } = update;
    if (sessionUpdate !== 'tool_call' && sessionUpdate !== 'tool_call_update') return;
    const known = this.#open.get(id);
    const call = { ...known?.call, ...update };
    const { terminal_output_delta: delta, terminal_output: printed } = fieldsOf(update['_meta']);
    const output = `${known?.output ?? ''}${textIn(fieldsOf(delta ?? printed)['data']) ?? ''}`.slice(0, mostOutput);
    this.#open.delete(id);
    if (status === 'completed' || status === 'failed') this.#ended(call, output);
    else {
      keepNewest(this.#open, id, { call, output }, mostOpen);
      this.#ear.called(id, { tool: '', input: undefined });
    }
  }

  #ended(call: McpParams, output: string): void {
    const { toolCallId: id, name, kind, title, status, rawInput: input = title, rawOutput, _meta: meta } = call;
    const { exit_code: code, metadata, contents } = fieldsOf(rawOutput);
    // As goose and codex-acp, opencode, Copilot, and codex-acp of a terminal tell the exit code.
    const exit =
      code ??
      fieldsOf(metadata)['exit'] ??
      fieldsOf(Array.isArray(contents) ? contents[0] : undefined)['exitCode'] ??
      fieldsOf(fieldsOf(meta)['terminal_exit'])['exit_code'];
    const isBad = status === 'failed' || (typeof exit === 'number' && exit !== 0);
    const printed = output === '' && isBad && typeof exit === 'number' ? `exit code ${exit}` : output;
    const said = answerIn(call) ?? (printed === '' ? (rawOutput ?? '') : printed);
    // Whoever does not say what was asked, or why it failed, may have asked for something else.
    const limits = input === undefined || (isBad && said === '') ? noticed : undefined;
    const tool = textIn(name) ?? textIn(kind === 'other' ? title : kind) ?? textIn(title) ?? 'a tool';
    const effect = reads.has(kind) ? 'readOnly' : undefined;
    this.#ear.called(id, { tool, input, effect, limits }, fieldsOf(fieldsOf(meta)['claudeCode'])['parentToolUseId']);
    this.#ear.answered(id, toldAnswer(!isBad, said));
  }
}

/** The answer in words, or its contents; a terminal among them has another id each time. */
function answerIn({ rawOutput, content }: McpParams): unknown {
  const { message, error } = fieldsOf(rawOutput);
  const said = textIn(rawOutput) ?? textIn(message) ?? textIn(error);
  const parts = Array.isArray(content) ? content.map(fieldsOf).filter(({ type }) => type !== 'terminal') : [];
  return said ?? (parts.length === 0 ? undefined : parts.map((each) => each['content'] ?? each));
}
