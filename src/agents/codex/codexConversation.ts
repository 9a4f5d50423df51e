import type { Clock } from '../../policy/clock.ts';
import type { Outcome } from '../../policy/failure.ts';
import type { BackendConversation } from '../agentBackend.ts';
import { createCodexEvents } from './agentCodexEvents.ts';
import type { AgentResult } from '../agentTypes.ts';
import { inTime } from '../../policy/inTime.ts';
import type { Codex, CodexThread, CodexThreadOptions, CodexTurn, CodexTurnResult } from '../../codex/codexTypes.ts';

/**
 * A thread of Codex as a conversation; taken up again after a crash.
 * @param agent - its name in results.
 */
export function createCodexConversation(
  clock: Clock,
  agent: string,
  codex: Codex,
  first: CodexThread,
  threadOptions: CodexThreadOptions,
): BackendConversation {
  let thread = first;
  let last: CodexTurn | undefined;
  let released: Promise<void> = Promise.resolve();

  /** After a crash a thread has to be taken up again; nothing is sent with that. */
  async function current(signal: AbortSignal): Promise<Outcome<CodexThread>> {
    if (thread.valid) return { ok: true, value: thread };
    const resumed = await codex.resumeThread(thread.id, { ...threadOptions, signal });
    if (resumed.ok) thread = resumed.value;
    return resumed;
  }

  return {
    get id() {
      return thread.id;
    },
    async turn(prompt, sink, { signal, effect, label, idleMs, overallMs }) {
      const startedAt = clock.now();
      // Codex refuses a second turn of a thread. One that is ended meanwhile is not sent, and says so.
      await inTime(released, { clock, signal, limitMs: overallMs });
      const ready = await current(signal);
      if (!ready.ok) return ready;
      const left = overallMs === undefined ? undefined : Math.max(1, overallMs - (clock.now() - startedAt));
      const turn = ready.value.send(prompt, { signal, effect, label, idleMs, overallMs: left });
      last = turn;
      const own = turn.outcome.then(({ ok }) => (ok ? undefined : turn.interrupt()));
      released = Promise.all([released, own]).then(() => undefined);
      const tell = createCodexEvents(sink);
      // Before the outcome is there no more than what waits is unread.
      for await (const event of turn) tell(event);
      const outcome = await turn.outcome;
      return outcome.ok ? { ok: true, value: resultOf(agent, outcome.value) } : outcome;
    },
    released: () => released,
    async stop() {
      await last?.interrupt();
    },
  };
}

function resultOf(agent: string, { text, thread, effects, tokens, toolCalls }: CodexTurnResult): AgentResult {
  const usage = tokens === undefined ? undefined : { inputTokens: tokens.input, outputTokens: tokens.output };
  return { text, id: thread, backend: 'codex', agent, effects, usage, calls: { tools: toolCalls } };
}
