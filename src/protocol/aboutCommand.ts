import type { IntegrationAbout } from '../policy/integrationAbout.ts';
import type { AgentCommand } from './agentCommand.ts';

/**
 * Returns what records say of a command.
 * @param agent - the agent that it is, if it is one that is known.
 */
export function aboutCommand(
  agent: Pick<AgentCommand, 'agent'> | undefined,
  args: readonly string[],
): IntegrationAbout<{ readonly args?: readonly string[] | undefined } | undefined> {
  if (agent === undefined) return { type: 'subprocess' };
  return {
    type: 'subprocess',
    provider: agent.agent === 'claude' ? 'anthropic' : 'openai',
    modelOf: (request) => modelInArgs([...args, ...(request?.args ?? [])]),
  };
}

/** The model that an agent is told on its command line: `--model X`, `--model=X`, `-m X`; the last one holds. */
function modelInArgs(args: readonly string[]): string | undefined {
  let model: string | undefined;
  for (const [index, each] of args.entries()) {
    if (each === '--') break;
    if (each === '--model' || each === '-m') model = args[index + 1];
    else if (each.startsWith('--model=')) model = each.slice('--model='.length);
  }
  return model;
}
