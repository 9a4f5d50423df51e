import { parsedJson } from '../../src/policy/text/face.ts';
import { judgeCommandHook } from '../../src/protocol/face.ts';
import { StoredInbox, systemClock } from '../../src/runtime/face.ts';
import type { createHookCircuit } from './hookCircuit.ts';
import { masked, record } from './hookTally.ts';
import type { HookInput } from './hostInput.ts';

/** Time of the store and the end of this process behind the deadline of a question, in ms. */
const endMs = 2000;

interface AskingHook {
  readonly name: string;
  /** Time until the host is to be answered, in ms. */
  readonly leftMs: number;
  readonly circuit: (budgetMs: number) => ReturnType<typeof createHookCircuit>;
}

/**
 * Has people answer for a hook that answered `ask`, where it was asked for a tool.
 * @returns the answer to the host in place of the hook's: allowed by a person, or denied; undefined where it did not ask.
 */
export async function askedPerson(
  { name, leftMs, circuit }: AskingHook,
  stdout: Buffer,
  { event, session, action: tool, fields }: HookInput,
): Promise<Buffer | undefined> {
  const said = stdout.toString('utf8');
  const judged = judgeCommandHook(event, { exitCode: 0, stdout: said, stderr: '' });
  if (event !== 'PreToolUse' || !judged.ok || judged.answer.permission !== 'ask') return undefined;
  const { tool_input: input, tool_use_id: call } = fields;
  const { use } = circuit(leftMs);
  const over = new AbortController();
  // The command has ended: what a signal ends now is the question. Told twice, this process ends as it is.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.removeAllListeners(signal).once(signal, () => over.abort());
  const asked = await use(async (store) => {
    const inbox = new StoredInbox(
      {
        ...{ clock: systemClock, records: () => store.questions, redact: masked, isRunning: () => true },
        bus: { tell: (fact, isTold) => void (isTold !== true && record(store, fact)) },
      },
      { overallMs: Math.max(1, leftMs - endMs) },
    );
    const end = await inbox.ask({
      ...{ source: 'hook', asker: `hook:${name}`, session, what: `use ${tool}` },
      detail: { tool, input, reason: judged.answer.reason },
      // The host may run its hooks once more for the same call.
      place: call === undefined ? undefined : ['hook', name, session, call],
      ...{ lasts: false, signal: over.signal },
    });
    // One that is withdrawn is told before that is on record.
    await store.flush();
    return end;
  });
  const permissionDecision = asked?.answer?.decision === 'accept' ? 'allow' : 'deny';
  const permissionDecisionReason = asked?.text ?? 'The question to a person could not be kept, and nobody was asked.';
  const { hookSpecificOutput: own, ...rest } = parsedJson(said) as Readonly<Record<string, unknown>>;
  const answer = { ...(own as object | undefined), hookEventName: event, permissionDecision, permissionDecisionReason };
  return Buffer.from(JSON.stringify({ ...rest, hookSpecificOutput: answer }));
}
