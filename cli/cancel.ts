import { defineCommand, flag } from './command.ts';
import { UsageError } from './errors.ts';
import { giveAndSay, reasonOption } from './orders.ts';

export const command = defineCommand({
  usage: 'cancel SESSION [CALL] [--no-retry] [--reason TEXT] [--json] [--db FILE]',
  details: [
    'CALL is the id of a call, as `unwedge why SESSION` shows it; its agent gets an error in place of the answer. Without one the turn ends.',
    'With --no-retry an attempt in flight goes on, and what it ends with is the end of the call. The session goes on. Exits 1 where nothing is pending.',
  ].join('\n'),
  options: {
    'no-retry': flag('only have no further attempt of CALL follow'),
    ...reasonOption,
  },
  operands: ['SESSION', '[CALL]'],
  choices: 'sessions',
  async run({ operands: [name = '', target], ...args }, io) {
    const keepsAttempt = args['no-retry'];
    if (keepsAttempt && target === undefined)
      throw new UsageError('--no-retry needs a CALL; see `unwedge why SESSION`');
    return giveAndSay(
      { order: keepsAttempt ? 'stop_retrying' : 'cancel', name, target, reason: args.reason },
      args,
      io,
    );
  },
});
