import { faultNames } from '../testing/demo/faultNames.ts';
import { defineForm, flag, text } from './command.ts';

/** The fault tour; only its options are here, so that asking for help loads no gateway. */
export const form = defineForm({
  usage: 'demo [--only FAULT[,FAULT...]] [--keep] [--json] [--db FILE]',
  details: [
    'Exits 0 when every call ended as it should, every session answered a last message and no child is left.',
    'It records into a database of its own, which is removed at the end; one that --db names stays, and while the tour runs',
    '`unwedge inspect`, `status --tree` and `why` can look at it there.',
    `Faults: ${faultNames.join(', ')}.`,
  ].join('\n'),
  options: {
    only: text('FAULT', 'inject only these faults, separated by commas', faultNames),
    keep: flag('leave the database for inspection'),
  },
});
