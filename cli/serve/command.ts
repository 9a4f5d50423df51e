import { defineCommand } from '../command.ts';
import { serveOptions } from './options.ts';

/** `unwedge serve`; only its options are here, so that asking for help loads no gateway. */
export const serve = defineCommand({
  name: 'serve',
  summary: 'run a gateway: sessions by HTTP over MCP servers, agents and hooks, with the dashboard',
  usage: 'serve [--config FILE] [--servers FILE] [--port N | --listen HOST:PORT] [OPTION...]',
  details: [
    'A gateway without code: POST /v1/sessions makes a session, POST /v1/sessions/ID/messages sends it a message (text for an agent, or a tool',
    'to call), GET /v1/sessions/ID/events streams what happens. A message that was accepted survives a kill: its session goes on at the next',
    'start. All routes are in docs/serve.md. /healthz says that it lives, /readyz that it makes progress; the dashboard is at /.',
    'SIGTERM and Ctrl-C let what is under way end for --drain; what waits is kept.',
    'Exit codes: 0 ended in order, 1 it could not start, 2 wrong usage.',
  ].join('\n'),
  options: serveOptions,
  run: async (args, io) => (await import('./serveCommand.ts')).serveCommand(args, io),
});
