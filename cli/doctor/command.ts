import { defineForm, flag } from '../command.ts';
import { configOption } from '../namedConfig.ts';

/** `unwedge doctor`; only its options are here, so that asking for help loads no check. */
export const form = defineForm({
  usage: 'doctor [--probe] [--all] [--config FILE] [--json] [--db FILE]',
  details: [
    'Looks at versions, the SQLite driver, the database, what dead gateways left behind, the configuration, what every client that `install`',
    'knows has configured (Claude Code and Desktop, Codex, Cursor, VS Code, Copilot, Gemini, opencode, goose, OpenClaw, Zed, JetBrains, acpx),',
    'what rules of Claude Code and Codex (policies, approvals, trust) keep from being started, variables, limits and the clock. Each finding has the command that mends it, where there is one. Nothing is changed.',
    'Servers are looked for and not started, unless --probe is given: then each that the user has configured is started, asked who it is and',
    'ended. Those of project files, and those that a policy denies, are never started. Of addresses only those of this machine are tried.',
    'What needs attention now (open alerts and circuits, sessions that wait, dead letters) is told as a warning, with the command to look.',
    'Exit codes: 0 in order, or with warnings, 1 something is broken, 2 wrong usage, or something could not be looked at.',
  ].join('\n'),
  errorCode: 2,
  options: {
    probe: flag('start each server that is configured, and end it again'),
    all: flag('tell what is in order too, and check a large database as a whole'),
    config: configOption,
  },
});
