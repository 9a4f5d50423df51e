import type { ApprovalHandler } from '../../../src/integrations/approvals/approvalHandler.ts';
import { anyObject } from '../../../src/policy/optionKeys.ts';
import { readOptions, readValue } from '../../../src/policy/readOptions.ts';
import type { CodexReply } from '../../codex/protocol/questions.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import type { AgentBackend } from '../agentBackend.ts';
import type { AgentOptions } from '../agentTypes.ts';
import { superviseCodex } from '../../codex/codex.ts';
import type { CodexApprover } from '../../codex/codexOptions.ts';
import { type CodexThreadOptions, threadKeys } from '../../codex/codexTypes.ts';
import { createCodexConversation } from './codexConversation.ts';

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
