import type { ApprovalHandler } from '../actors/approvalHandler.ts';
import type { Clock } from '../policy/clock.ts';
import type { Outcome } from '../policy/failure.ts';
import { checkKeys, checkObject } from '../policy/options.ts';
import type { CodexReply } from '../protocol/codex/questions.ts';
import type { Runtime } from '../runtime.ts';
import type { AgentBackend, BackendConversation, SupervisedBackend } from './agentBackend.ts';
import { createCodexEvents } from './agentCodexEvents.ts';
import type { AgentOptions, AgentResult } from './agentTypes.ts';
import { inTime } from './agentWait.ts';
import { superviseCodex } from './codex.ts';
import type { CodexApprover, CodexOptions } from './codexOptions.ts';
import type { Codex, CodexThread, CodexThreadOptions, CodexTurn, CodexTurnResult } from './codexTypes.ts';

/** What is Codex's alone: how its app-server is run, and how threads are begun. */
export interface CodexBackendOptions
  extends Omit<CodexOptions, 'cwd' | 'env' | 'policy' | 'approve' | 'approvalMs' | 'effect'> {
  /** How its threads are begun and resumed: `sandbox`, `approvalPolicy` and so on. @defaultValue {} */
  readonly thread?: Omit<CodexThreadOptions, 'cwd' | 'model' | 'signal'> | undefined;
}

/**
 * Codex through its app-server: one process for all conversations, each a thread of it.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseCodexAgent(
  runtime: Runtime,
  name: string,
  options: AgentOptions,
  isRunning: () => boolean,
): SupervisedBackend {
  const { model, cwd, approve, approvalTimeoutMs, policy } = options;
  checkObject(`${name}.codex`, options.codex ?? {});
  const { thread = {}, ...own } = options.codex ?? {};
  checkKeys(`${name}.codex.thread`, thread, threadOptionNames);
  const { codex, path } = superviseCodex(
    runtime,
    name,
    {
      ...own,
      cwd,
      env: environment(name, options.env),
      policy,
      approvalMs: approvalTimeoutMs,
      ...(approve !== undefined && { approve: approverOf(approve) }),
    },
    { isRunning, logger: undefined },
  );
  const threadOptions: CodexThreadOptions = { ...thread, model, cwd };

  return {
    path,
    backend: {
      name: 'codex',
      async open(id, { signal }) {
        const asked = { ...threadOptions, signal };
        const opened = await (id === undefined ? codex.startThread(asked) : codex.resumeThread(id, asked));
        return opened.ok
          ? { ok: true, value: conversation(runtime.clock, name, codex, opened.value, threadOptions) }
          : opened;
      },
      stop: () => codex.close(),
    } satisfies AgentBackend,
  };
}

const threadOptionNames = [
  'modelProvider',
  'approvalPolicy',
  'sandbox',
  'baseInstructions',
  'developerInstructions',
  'config',
  'params',
];

function conversation(
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
    async turn(prompt, sink, { idleMs, overallMs, ...options }) {
      const { signal } = options;
      const startedAt = clock.now();
      // Codex refuses a second turn of a thread. One that is ended meanwhile is not sent, and says so.
      await inTime(released, { clock, signal, limitMs: overallMs });
      const ready = await current(signal);
      if (!ready.ok) return ready;
      const left = overallMs === undefined ? undefined : Math.max(1, overallMs - (clock.now() - startedAt));
      const turn = ready.value.send(prompt, { ...options, stallMs: idleMs, overallMs: left });
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

function resultOf(agent: string, { text, thread, effects, tokens }: CodexTurnResult): AgentResult {
  const usage = tokens === undefined ? undefined : { inputTokens: tokens.input, outputTokens: tokens.output };
  return { text, id: thread, backend: 'codex', agent, effects, usage };
}

/** Codex's question as the common one; what is answered passes as it is, so that its own replies can be given. */
function approverOf(approve: ApprovalHandler): CodexApprover {
  return async ({ kind, action, thread, params }, context) => {
    const payload = { tool: kind, input: params };
    return (await approve({ action: `${kind}: ${action}`, session: thread, payload }, context)) as CodexReply;
  };
}

function environment(name: string, env: AgentOptions['env']): Record<string, string> {
  const entries = Object.entries(env ?? {}).map(([variable, value]): [string, string] => {
    if (value !== undefined) return [variable, value];
    throw new RangeError(`Expected \`${name}.env.${variable}\` to be a string; Codex's environment is only added to`);
  });
  return Object.fromEntries(entries);
}
