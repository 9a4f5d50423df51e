import { agentNames } from '../../install/configFile.ts';
import { defineForm, flag, text } from '../command.ts';
import { configOption } from '../namedConfig.ts';

/** `unwedge drill`; only its options are here, so that asking for help loads no runtime. */
export const form = defineForm({
  usage: 'drill [CLIENT...] [--config FILE] [--only NAME] [--project] [--effects] [--yes] [--json]',
  details: [
    'Starts what is configured, as it is configured, with faults in front: killed, silent, slow, a flood, half an answer, 429, a refused',
    'sign-in. Says what an agent would have seen, how long that took, what was left behind, and what to set.',
    'Reads what Claude Code, Codex, Cursor and others have configured, or of each CLIENT alone; with --config what that file has for',
    '`unwedge serve` and `unwedge mcp`. Databases, temporary files and the home of agents are copies that go at the end.',
    'Calls of tools are answered in place of the server, but for those that --config declares readOnly. Hooks are not run: what fails',
    'stands in for them. Agents get a model on this machine and no key of yours.',
    'It lists what it starts and asks; where there is no terminal it needs --yes.',
    'Exit codes: 0 all held, 1 something did not, 2 wrong usage or nobody to ask.',
  ].join('\n'),
  operands: ['[CLIENT]...'],
  choices: agentNames,
  errorCode: 2,
  options: {
    config: configOption,
    only: text('NAME', 'the server, hook or agent of this name alone'),
    project: flag('what files of the project have, too'),
    effects: flag('let calls reach every tool, and run hooks once'),
    yes: flag('start what is listed without a question'),
  },
});
