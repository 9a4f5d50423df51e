import { defineForm, count, flag, text } from '../command.ts';

/** The dashboard; only its options are here, so that asking for help loads no server. */
export const form = defineForm({
  usage: 'dashboard [--port N] [--read-only] [--metrics-token-file FILE] [--json] [--db FILE]',
  details: [
    'Prints the address of a page on this machine, and serves it until Ctrl-C. The token in the address is good for one browser; once it was',
    'used the next one is printed. The page shows every gateway and proxy that runs on the database, and what is on record without one.',
    'It can isolate and reset circuits and restart integrations and sessions: each asks twice, and is recorded with who did it and why.',
  ].join('\n'),
  options: {
    port: count(0, 65_535, 0, 'the port of the page; else a free one'),
    'metrics-token-file': text(
      'FILE',
      'holds the token that Prometheus shows for /metrics, and is made where it is not there; else that is for the browser alone',
    ),
    'read-only': flag('a page that shows and does nothing'),
  },
});
