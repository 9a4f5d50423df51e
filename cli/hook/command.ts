import { spinningChoices } from '../../src/policy/spinning/face.ts';
import { defineCommand, duration, flag, text } from '../command.ts';
import { UsageError } from '../errors.ts';

/** Form of `unwedge hook`; it is run by the light entry beside, which this file must not import. */
export const command = defineCommand({
  usage:
    'hook [--timeout DURATION] [--host-timeout DURATION] [--on-failure allow|block] [--name NAME] [--keep-background] [--inbox] [--db FILE] (--guard spinning [--spinning STEP] | -- COMMAND [ARG...])',
  details: [
    'Passes stdin, stdout, stderr and any exit code of the command on as they are. A command that crashes by a signal,',
    'hangs, or cannot be started exits 0 with one line on stderr.',
    'With --on-failure block it is a guard: every end but exit 0 and exit 2 declines, by exit 2 and the reason on stderr, which',
    'Claude Code, Codex, Cursor and VS Code take for a block. A program that throws exits with 1, one that is missing with 127.',
    'After 5 failures in a row it is not run for 1m: observers are skipped, guards (--on-failure block) decline.',
    'Stop, SubagentStop, TaskCompleted and TeammateIdle never block for a failure: the agent could not end. An exit code passes there.',
    'A guard must decline before its host gives up on it: the limit lies below the `timeout` that the settings of Claude Code or Codex',
    '(JSON files, `claude --settings` too) give this hook. Where its settings come otherwise, give --host-timeout: else the limit lies',
    'below 60s, and below 1.5s at SessionEnd.',
    'With --on-failure block, JSON on stdout that cannot be read is a failure too. What the command leaves running is ended with it.',
    'With --inbox a PreToolUse hook that answers `ask` is a question of `unwedge inbox`: allowed by a person, or denied before the host gives up; give the hook a long `timeout`.',
    'With --guard spinning it needs no command: put before and after every tool (PreToolUse, PostToolUse, PostToolUseFailure), it learns what calls',
    'were answered, tells the agent of calls that fail alike, and declines the call after 20 of them. It never declines for a failure of its own.',
  ].join('\n'),
  ownsNoOutput: true,
  options: {
    timeout: duration('limit on the whole run; else by the event: less than the host waits, 55s for most'),
    'host-timeout': duration('how long the host waits for this hook; else as its settings say'),
    'on-failure': text('allow|block', 'what a failing hook means; else allow', ['allow', 'block']),
    name: text('NAME', 'what its failures are counted under; else the name of the command'),
    guard: text('spinning', 'a guard of our own in place of a command', ['spinning']),
    spinning: text('STEP', `how far it goes, of ${spinningChoices.join(', ')}; else end`, spinningChoices),
    inbox: flag(
      'a command that answers `ask` before a tool waits for `unwedge inbox`, as long as the host waits; then it is denied',
    ),
    'keep-background': flag('leave running what the command started in the background'),
  },
  run() {
    throw new UsageError(missingCommand);
  },
});

/** Message for a line with nothing to run. */
export const missingCommand = 'No command given; write it after --, as in `unwedge hook -- COMMAND`';
