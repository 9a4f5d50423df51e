import type { HookHandler } from '../index.ts';
import type { Expected, Fault } from './fault.ts';
import type { FaultName } from './faultNames.ts';
import { notes } from './notes.ts';

/** Shortened for the tour, in ms: how long a hook may take. */
const hookMs = 500;

/** A tool call with a hook before it; whatever the hook does, the call is made. */
function hookFault(name: FaultName, event: string, handler: HookHandler, expected: Expected): Fault {
  return {
    name,
    lane: 'hooks',
    integration: notes,
    declare({ gateway }) {
      const limits = { idleMs: hookMs, attemptMs: hookMs, overallMs: hookMs };
      gateway.hook(event, handler, { name, policy: { limits } });
    },
    async run(turn, { gateway }) {
      const { decision, reports } = await gateway.runHooks({ event, action: notes, session: turn.session });
      if (decision !== 'continue' || reports[0]?.failure === undefined) throw new Error('the hook did not fail');
      return turn.tool(notes, 'echo', 'after the hook');
    },
    expected,
  };
}

export const hookFaults: readonly Fault[] = [
  hookFault(
    'hook-throws',
    'PreToolUse',
    () => {
      throw new Error('the hook has a bug');
    },
    {
      outcome: 'ok',
      retries: [0, 0],
      mostMs: 15_000,
      records: [
        { type: 'hook/error', fields: { hook_name: 'hook-throws', error: 'the hook has a bug' } },
        { type: 'integration/failure', fields: { integration: 'hook:hook-throws', kind: 'unknown' } },
      ],
    },
  ),
  hookFault('hook-hangs', 'UserPromptSubmit', () => new Promise(() => undefined), {
    outcome: 'ok',
    retries: [0, 0],
    leastMs: hookMs,
    mostMs: 15_000,
    records: [
      { type: 'hook/error', fields: { hook_name: 'hook-hangs' } },
      { type: 'integration/failure', fields: { integration: 'hook:hook-hangs', kind: 'timeout' } },
    ],
  }),
];
