import { defineForm, count, flag, text } from '../command.ts';

/** Live charts; only its options are here, so that asking for help loads no server. */
export const form = defineForm({
  usage: 'inspect [--attach NAME|PID] [--port N] [--stately] [--json] [--db FILE]',
  details: [
    'Prints the address of a page on this machine, and shows it until Ctrl-C or the end of the gateway. Who has the address, with its',
    'token, sees what the machines do; secrets, prompts and command lines are left out. The machines are watched only while somebody looks.',
    'With --stately the page is https://stately.ai/inspect: it needs the internet, and what is shown goes to that third party.',
  ].join('\n'),
  options: {
    attach: text('NAME|PID', 'which gateway, where several run on the database'),
    port: count(0, 65_535, 0, 'the port of the page; else a free one'),
    stately: flag('show the official inspector in place of the built-in page'),
  },
});
