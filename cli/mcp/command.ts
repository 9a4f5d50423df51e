import { endHeadStart } from '../../src/actors/mcp/face.ts';
import { defineCommand } from '../command.ts';
import { loadUnlessAborted } from '../io.ts';
import { mcpOptions } from './options.ts';

/** `unwedge mcp`; only its options are here, so that asking for help loads no runtime. */
export const command = defineCommand({
  usage: 'mcp [OPTION...] ([--] COMMAND [ARG...] | --url URL)',
  details: [
    'Put it before the command of a server in the configuration of a client. Messages pass as they are; the client never sees a disconnect.',
    'Where no -- is left (some clients swallow it) the first word that is no option begins the command; options come before it.',
    'A server that crashes is started again and brought to where it was (handshake, log level, subscriptions; the client is told when its',
    'lists have changed). When a call is silent the server is pinged: one that does not answer is killed and started again.',
    'Calls that were in flight get a result that says so; what can safely be repeated is.',
    'A call that asks a person, or whose server reports progress, is not silent. Ends with the client, and everything the server started with it.',
    'Without --name the server is called after its package (`npx -y @acme/server-files` is `server-files`), its container image or its',
    'script; one that is called `index.js` or the like after the package it belongs to, by its package.json, or the directory it lies in.',
    'With --url the server is elsewhere and is reached by HTTP: a lost session, a dead connection and a restart are what a crash is of a command.',
    'What it is shown comes from the environment or a file, since others can read a command line; `--sign-in` signs in with a browser, once.',
    'Without --name it is called after its host.',
    'With --listen many clients are served by HTTP on this machine; where, and with which token, is written to stderr. With --servers, or with a',
    '--config that has mcpServers, several servers are one: docs/mcp-proxy.md.',
    '`unwedge events` shows what happened, `unwedge restart NAME` restarts the server by hand, in every client that has it.',
    'An alert is raised when calls of it fail or it crashes again and again; see `unwedge alerts --help`.',
    'Exit codes: 0 when the client has ended its side, 1 when stdin ended before a client said anything, 2 wrong usage, or it could not begin, 128+n ended by signal n.',
  ].join('\n'),
  takesCommand: 'bare',
  ownsNoOutput: true,
  errorCode: 2,
  options: mcpOptions,
  async run(args, io, rest) {
    try {
      const loaded = await loadUnlessAborted(import('./mcpCommand.ts'), io);
      return (await loaded?.mcpCommand(args, io, rest)) ?? 1;
    } finally {
      await endHeadStart();
    }
  },
});
