import { basename } from 'node:path';
import { usualName } from '../../machines/subprocessInput.ts';
import type { AgentCommand } from '../../protocol/agentCommand.ts';

/** Returns what messages for people call a command: its file without its folder. That of an agent is its CLI. */
export function nameOfCommand(command: string, agent: AgentCommand | undefined): string {
  return agent === undefined ? basename(command) || command : usualName;
}
