import { programForm } from '../../../src/policy/text/face.ts';
import { type Given, anyObject, duration, list, readOptions, text } from '../../../src/policy/options/face.ts';
import { agentOf } from '../../../src/protocol/face.ts';

/** The options of an agent that are of the Agent Client Protocol alone. */
export const acpKeys = {
  /** The agent: path, or name to look up on the PATH. Never goes through a shell. */
  command: text({ required: true, ...programForm }),
  /** Its arguments. @defaultValue those by which an agent that is known speaks the protocol (`goose`: `acp`), else [] */
  args: list(text({ empty: true }), { expected: 'an array of strings' }),
  /** MCP servers for each session, in the form of the protocol. @defaultValue [] */
  mcpServers: list(anyObject, { expected: 'an array of objects', default: [] }),
  /** Limit on a turn while a tool of it is under way, in ms above 0. @defaultValue 3600000 (1 h) */
  toolMs: duration(),
  /** Time that the agent may take to end a turn that was interrupted, in ms above 0. @defaultValue 5000 */
  cancelMs: duration(),
  /** Limit on its start, and on each session that it opens or loads, in ms above 0. @defaultValue 180000 */
  startMs: duration(),
};

/** Options that are of an agent over the Agent Client Protocol alone. */
export interface AcpBackendOptions extends Given<typeof acpKeys> {}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkAcpBackend(name: string, given: AcpBackendOptions | undefined) {
  const { args, ...own } = readOptions(name, given, acpKeys);
  return { ...own, args: args ?? agentOf(own.command)?.acp?.args ?? [] };
}
