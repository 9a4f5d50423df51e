import { listByEnvironment, terminateTree } from '../../src/actors/process/face.ts';
import type { Clock } from '../../src/policy/face.ts';

/** Variable by which a command of an agent tells the tool call that it was started for: Codex 0.166 and later end none with the turn. */
const toolVariable = 'CODEX_TOOL_CALL_ID';
/** Time between SIGTERM and SIGKILL, in ms: what was given up is to have no effect any more. */
const graceMs = 1000;

/** Ends the commands of tool calls whose turn was ended before they were, where the agent leaves them running. Never rejects. */
export async function endLeftCommands(tools: readonly string[], clock: Clock): Promise<void> {
  if (tools.length === 0) return;
  const ids = new Set(tools);
  const left = await listByEnvironment((variable) => ids.has(variable(toolVariable) ?? ''));
  const pids = new Set(left.map(({ pid }) => pid));
  const roots = left.filter(({ parent }) => !pids.has(parent));
  await Promise.all(roots.map(({ pid, startTime }) => terminateTree(pid, { clock, startTime, graceMs })));
}
