import { defineCommand } from '../command.ts';
import { apiOptions } from './options.ts';

/** `unwedge api`; only its options are here, so that asking for help loads no runtime. */
export const api = defineCommand({
  name: 'api',
  summary: 'stand between agents and the API of their model, so that no stream hangs',
  usage: 'api --upstream URL [OPTION...]',
  details: [
    'Listens on this machine alone, and prints what to set in each client. Bytes pass as they are.',
    'What fails before the first byte of an answer (429, 500, 502, 503, 504, 529, a lost connection, no headers) is asked for again, by the hints',
    'of the API, until the client has its answer or --budget is over. A stream that falls silent or breaks is ended so that its client',
    'goes on by itself: Claude Code by a cut, Codex by `response.failed`, others by an error event; never in good order.',
    'A key that is over its limit waits alone; an API that is down is tried by one request, for which the others wait.',
    'Nothing of what is said is kept, and no header: `unwedge status` and `unwedge events` show what failed.',
    'SIGTERM and Ctrl-C let answers end for --drain first.',
    'Exit codes: 0 never, 1 it could not listen, 2 wrong usage, 128+n ended by signal n.',
  ].join('\n'),
  options: apiOptions,
  run: async (args, io) => (await import('./apiCommand.ts')).apiCommand(args, io),
});
