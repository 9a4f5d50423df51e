import type { ApprovalHandler } from '../actors/approvalHandler.ts';
import { checkKeys, checkObject } from '../policy/options.ts';
import type { CodexReply } from '../protocol/codex/questions.ts';
import type { Runtime } from '../runtime.ts';
import type { AgentBackend, SupervisedBackend } from './agentBackend.ts';
import type { AgentOptions } from './agentTypes.ts';
import { superviseCodex } from './codex.ts';
import type { CodexApprover, CodexOptions } from './codexOptions.ts';
import type { CodexThreadOptions } from './codexTypes.ts';

/** What is Codex's alone: how its app-server is run, and how threads are begun. */
export interface CodexBackendOptions
  extends Omit<CodexOptions, 'cwd' | 'env' | 'policy' | 'approve' | 'approvalMs' | 'effect'> {
  /** How its threads are begun and resumed: `sandbox`, `approvalPolicy` and so on. @defaultValue {} */
  readonly thread?: Omit<CodexThreadOptions, 'cwd' | 'model' | 'signal'> | undefined;
}

/** What every agent has, whatever its backend, and where it is said. */
const saidElsewhere = {
  cwd: '`cwd` of the agent',
  env: '`env` of the agent',
  policy: '`policy` of the agent',
  approve: '`approve` of the agent',
  approvalMs: '`approvalTimeoutMs` of the agent',
  effect: '`effect` of a turn',
};

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
  for (const [key, instead] of Object.entries(saidElsewhere)) {
    if (key in own) throw new RangeError(`Expected \`${name}.codex.${key}\` to be left out; use ${instead}`);
  }
  checkKeys(`${name}.codex.thread`, thread, threadOptionNames);
  const { codex, path } = superviseCodex(
    runtime,
    name,
    {
      ...own,
      cwd,
      env: environment(name, options.env),
      envMode: options.envMode ?? own.envMode,
      policy,
      approvalMs: approvalTimeoutMs,
      ...(approve !== undefined && { approve: approverOf(approve) }),
    },
    { isRunning, logger: undefined },
  );
  const threadOptions: CodexThreadOptions = { ...thread, model, cwd };
  let isStopped = false;

  return {
    path,
    backend: {
      name: 'codex',
      async open(id, { signal }) {
        // Before a thread is begun: without it there would be nobody to end it.
        const { createCodexConversation } = await import('./codexConversation.ts');
        // Stopped meanwhile: nobody would end what is started now.
        const asked = { ...threadOptions, signal: isStopped ? AbortSignal.abort() : signal };
        const opened = await (id === undefined ? codex.startThread(asked) : codex.resumeThread(id, asked));
        return opened.ok
          ? { ok: true, value: createCodexConversation(runtime.clock, name, codex, opened.value, threadOptions) }
          : opened;
      },
      stop() {
        isStopped = true;
        return codex.close();
      },
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
