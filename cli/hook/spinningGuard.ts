import type { SeenAnswer, SpinningChoice } from '../../src/policy/spinning/face.ts';
import { chosenLimits, seenCall, spinningNews, SpinningWatch } from '../../src/policy/spinning/face.ts';
import { parsedJson } from '../../src/policy/text/face.ts';
import { claudeReads } from '../../src/protocol/face.ts';
import { systemClock } from '../../src/runtime/face.ts';
import type { createHookCircuit } from './hookCircuit.ts';
import { hookMarker } from './hookMarker.ts';
import { masked, record } from './hookTally.ts';
import type { HookInput } from './hostInput.ts';

/**
 * Learns what a call was answered, or judges one that is about to be made. A session counts by itself, and each of its sub-agents.
 * @returns the answer to the host, as hooks of Claude Code and of Codex give it; undefined: nothing is to be said.
 */
export async function guardSpinning(
  choice: SpinningChoice,
  database: string,
  use: ReturnType<typeof createHookCircuit>['use'],
  { event, session, action: tool, fields }: HookInput,
): Promise<object | undefined> {
  if (choice === 'off' || database === ':memory:' || session === undefined) return undefined;
  const { agent_id: agent, prompt_id: promptId, turn_id: turnId } = fields;
  const scope = typeof agent === 'string' ? `${session}/${agent}` : session;
  // The agents that say which prompt is worked on need no event for a new one; a sub-agent has one prompt.
  const prompt = scope === session ? (promptId ?? turnId) : undefined;
  const isPrompt = event === 'UserPromptSubmit' && prompt === undefined;
  const answer = answerIn(event, fields);
  // Left where a call is to be declined: before others no database is needed. One for many scopes, so that they stay few.
  const marker = hookMarker(database, scope.slice(-2), 'spinning');
  const isJudged = event === 'PreToolUse' && marker.isThere();
  if (!isPrompt && !isJudged && answer === undefined) return undefined;
  const call = seenCall({ tool, input: fields['tool_input'], effect: claudeReads.has(tool) ? 'readOnly' : undefined });
  const at = systemClock.wallNow();
  const found = await use(async (store) => {
    const verdict = await store.spinning.change(scope, at, (memory) => {
      const watch = new SpinningWatch(chosenLimits(choice));
      const [last, text] = (parsedJson(memory ?? '') ?? []) as readonly unknown[];
      watch.restore(String(text));
      if (isPrompt || (prompt !== undefined && prompt !== last)) {
        watch.mark();
        marker.remove();
      }
      const judged = isJudged ? watch.before(call) : undefined;
      const result = answer === undefined ? judged : watch.after(call, answer, at);
      return { memory: JSON.stringify([prompt, watch.toText((said) => masked({ said }).said)]), result };
    });
    if (verdict?.isNews === true) record(store, { type: 'session.spinning', session, ...spinningNews(tool, verdict) });
    return verdict;
  });
  if (found?.text === undefined) return undefined;
  const { step, text } = found;
  if (step === 'hold' || step === 'end') marker.leave();
  const said = { hookEventName: event, additionalContext: text };
  const denied = { hookEventName: event, permissionDecision: 'deny', permissionDecisionReason: text };
  // Codex makes the call where the hook before it says `continue`.
  const isStop = step === 'end' && (answer !== undefined || turnId === undefined);
  const hookSpecificOutput = answer === undefined ? denied : said;
  return isStop ? { continue: false, stopReason: text, hookSpecificOutput } : { hookSpecificOutput };
}

function answerIn(event: string, fields: HookInput['fields']): SeenAnswer | undefined {
  const { error, is_interrupt: isCut, duration_ms: took, tool_response: value } = fields;
  const tookMs = typeof took === 'number' ? took : undefined;
  const failed = (message: string) => ({ ok: false, kind: 'tool', message, tookMs }) as const;
  if (event === 'PostToolUseFailure') return isCut === true ? undefined : failed(String(error));
  if (event !== 'PostToolUse') return undefined;
  const kept = (name: string, each: unknown): unknown => (/duration|elapsed/i.test(name) ? undefined : each);
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null, kept);
  const isError = (value as { readonly isError?: unknown } | null | undefined)?.isError === true;
  return isError ? failed(text) : { ok: true, value: text, tookMs };
}
