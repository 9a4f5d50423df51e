import type { ApprovalHandler } from '../../../src/integrations/approvals/face.ts';
import { type Clock, inTime } from '../../../src/policy/face.ts';
import type { Outcome } from '../../../src/policy/failures/face.ts';
import { anyObject, readOptions, readValue } from '../../../src/policy/options/face.ts';
import { hearCodexItem, recordIn, textIn } from '../../../src/protocol/face.ts';
import type { Runtime } from '../../../src/runtime/face.ts';
import { superviseCodex } from '../../codex/codex.ts';
import type { CodexApprover } from '../../codex/codexOptions.ts';
import {
  type Codex,
  type CodexThread,
  type CodexThreadOptions,
  type CodexTurn,
  type CodexTurnEvent,
  type CodexTurnResult,
  threadKeys,
} from '../../codex/codexTypes.ts';
import { type CodexItem, isSpoken } from '../../codex/protocol/items.ts';
import type { CodexReply } from '../../codex/protocol/questions.ts';
import { actionOf } from '../agentAction.ts';
import type { AgentBackend, BackendConversation } from '../agentBackend.ts';
import type { Sink } from '../agentStream.ts';
import { createTextFlow } from '../agentText.ts';
import type { AgentOptions, AgentResult } from '../agentTypes.ts';

/** Options that every agent has, whatever its backend, and the place of each. */
export const saidElsewhere = {
  cwd: '`cwd` of the agent',
  env: '`env` of the agent',
  policy: '`policy` of the agent',
  approve: '`approve` of the agent',
  approvalMs: '`approvalMs` of the agent',
  effect: '`effect` of a turn',
};

/**
 * Codex through its app-server: one process for all conversations, each a thread of it.
 * @throws TypeError or RangeError that names the first wrong option and its value.
 */
export function superviseCodexAgent(runtime: Runtime, name: string, options: AgentOptions): AgentBackend {
  const { model, cwd, approve, approvalMs, policy } = options;
  readValue(`${name}.codex`, options.codex ?? {}, anyObject);
  const { thread = {}, ...own } = options.codex ?? {};
  for (const [key, instead] of Object.entries(saidElsewhere)) {
    if (key in own) throw new RangeError(`Expected \`${name}.codex.${key}\` to be left out; use ${instead}`);
  }
  readOptions(`${name}.codex.thread`, thread, threadKeys);
  const codex = superviseCodex(
    runtime,
    name,
    {
      ...own,
      cwd,
      env: environment(name, options.env),
      envMode: options.envMode ?? own.envMode,
      policy,
      approvalMs,
      ...(approve !== undefined && { approve: approverOf(approve) }),
    },
    { logger: undefined },
  );
  const threadOptions: CodexThreadOptions = { ...thread, model, cwd };

  return {
    name: 'codex',
    async open(id, { signal }) {
      const asked = { ...threadOptions, signal };
      const opened = await (id === undefined ? codex.startThread(asked) : codex.resumeThread(id, asked));
      return opened.ok
        ? { ok: true, value: createCodexConversation(runtime.clock, name, codex, opened.value, threadOptions) }
        : opened;
    },
    stop: () => codex.close(),
  };
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

/**
 * A thread of Codex as a conversation; taken up again after a crash.
 * @param agent - its name in results.
 */
function createCodexConversation(
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
    async turn(prompt, sink, { signal, effect, label, idleMs, overallMs, ear }) {
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
      for await (const event of turn) {
        tell(event);
        if (ear !== undefined && (event.type === 'item.started' || event.type === 'item.completed'))
          hearCodexItem(event.item.raw, event.type === 'item.completed', ear);
      }
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

/** Tells the events of one turn of Codex as those of the common interface. Never throws. */
function createCodexEvents(sink: Sink): (event: CodexTurnEvent) => void {
  const text = createTextFlow(sink);
  let speaking: string | undefined;
  let retries = 0;

  const beginItem = (item: string): void => {
    if (speaking === item) return;
    speaking = item;
    text.begin();
  };

  function completed(item: CodexItem): void {
    if (item.type === 'agentMessage') {
      beginItem(item.id);
      text.complete(item.text ?? '');
      speaking = undefined;
    } else if (isTool(item)) {
      const ok = item.status !== 'failed' && item.status !== 'declined';
      sink({ type: 'tool.ended', id: item.id, tool: toolOf(item), ok });
    }
  }

  return (event) => {
    switch (event.type) {
      case 'text.delta':
        beginItem(event.item);
        text.say(event.text);
        break;
      case 'reasoning.delta':
        if (event.text !== '') sink({ type: 'reasoning', text: event.text });
        break;
      case 'item.started':
        if (isTool(event.item)) {
          const { id, raw } = event.item;
          sink({ type: 'tool.started', id, tool: toolOf(event.item), action: actionOf(inputOf(raw)) });
        }
        break;
      case 'item.completed':
        completed(event.item);
        break;
      case 'retrying':
        sink({ type: 'retrying', by: 'agent', attempt: ++retries, delayMs: undefined, message: event.message });
        break;
      case 'approval.requested':
        sink({ type: 'approval.requested', id: event.approval, tool: event.kind, action: event.action });
        break;
      case 'approval.resolved': {
        const { approval: id, kind: tool, decision, reason } = event;
        sink({ type: 'approval.resolved', id, tool, decision, reason });
        break;
      }
      // The output of a command, tokens so far, and unknown events: an agent does not tell them, the client of Codex does.
      case 'turn.started':
      case 'output.delta':
      case 'tokens':
      case 'notice':
        break;
    }
  };
}

const isTool = (item: CodexItem): boolean => !isSpoken(item) && item.type !== 'userMessage';

function toolOf({ type, raw }: CodexItem): string {
  const [server, tool] = [textIn(raw['server']), textIn(raw['tool'])];
  if (type === 'mcpToolCall' && tool !== undefined) return server === undefined ? tool : `${server}.${tool}`;
  return type === 'commandExecution' ? 'command' : type;
}

/** The fields that say what is done; changes of files by their paths. */
function inputOf(raw: Readonly<Record<string, unknown>>): unknown {
  const { changes } = raw;
  if (Array.isArray(changes)) {
    return changes
      .map((change) => textIn(recordIn(change)?.['path']))
      .filter((path) => path !== undefined)
      .join(' ');
  }
  if (recordIn(raw['arguments']) !== undefined) return raw['arguments'];
  const { id: _, type: __, status: ___, ...rest } = raw;
  return rest;
}
