import { endHeadStart } from '../../src/actors/mcp/face.ts';
import { defineCommand } from '../command.ts';
import { loadUnlessAborted } from '../io.ts';
import { acpOptions } from './options.ts';

/** `unwedge acp`; only its options are here, so that asking for help loads no runtime. */
export const command = defineCommand({
  usage: 'acp [OPTION...] [--] AGENT [ARG...]',
  details: [
    'Put it before the command of an agent in the settings of an editor. It speaks the Agent Client Protocol on stdio, and so does the agent:',
    '`unwedge acp -- goose acp`, `unwedge acp -- gemini --acp`, `unwedge acp -- npx @agentclientprotocol/claude-agent-acp`. Messages pass as they are.',
    'Each prompt gets one answer: that of the agent, or an error that says why there is none. One whose turn makes no progress for --idle-timeout is ended',
    'and the agent told; one that is cancelled has its answer within --cancel-timeout. An agent that dies or does not end a turn is ended with all that it',
    'started, and started again: the editor keeps its connection, its sessions are loaded. A prompt that it had begun with is not sent again.',
    'A failure that an agent tells as text, and as the end of its turn (`end_turn`), is told as the error that it is.',
    '`unwedge why NAME` shows what a prompt waits for, `unwedge events` what happened, `unwedge restart NAME` restarts the agent by hand.',
    'With --check it prints which musts of the protocol the agent keeps, as a table or --json: it starts it up to three times, and asks its model',
    'six times for a few words. Exit codes of that: 0 when none is broken, 1 when one is.',
    'Exit codes: 0 when the editor has ended its side, 1 when stdin ended before anybody said anything, 2 wrong usage, or it could not begin, 128+n ended by signal n.',
  ].join('\n'),
  takesCommand: 'bare',
  ownsNoOutput: true,
  errorCode: 2,
  options: acpOptions,
  async run(args, io, rest) {
    if (args.check) return (await import('./checkCommand.ts')).checkCommand(args, io, rest);
    try {
      const loaded = await loadUnlessAborted(import('./acpCommand.ts'), io);
      return (await loaded?.acpCommand(args, io, rest)) ?? 1;
    } finally {
      await endHeadStart();
    }
  },
});
