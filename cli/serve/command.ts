import { type Args, type OptionSpecs, count, duration, flag, text, defineForm } from '../command.ts';

/** Port that it listens at when nothing else is said. */
export const usualPort = 7420;

/** Time in ms that work under way may take to end. With the 5 s of servers that do not obey it stays below the 30 s of Kubernetes. */
export const usualDrainMs = 20_000;

/** The options of `unwedge serve`. */
export const serveOptions = {
  config: text(
    'FILE',
    'the configuration; where it is JSON, with mcpServers, agents and hooks beside it. Else UNWEDGE_CONFIG',
  ),
  servers: text('FILE', 'mcpServers (JSON, as clients have it), agents and hooks, where they do not stand in --config'),
  port: count(0, 65_535, usualPort, `the port on 127.0.0.1, 0 for a free one; else ${usualPort}`),
  listen: text(
    'HOST:PORT',
    'in place of --port: another address, such as 0.0.0.0:7420 in a container (with --token-file); port 0: a free one',
  ),
  'token-file': text(
    'FILE',
    'holds the token that clients show, and is made where it is not there; else a new one at each start',
  ),
  'no-token': flag('whoever is on this machine may use it'),
  'max-sessions': count(1, 1_000_000, 10_000, 'sessions at a time; else 10000'),
  drain: duration(`how long what is under way may take to end when it is told to stop; else ${usualDrainMs / 1000}s`),
} as const satisfies OptionSpecs;

/** Arguments of `unwedge serve`. */
export type ServeArgs = Args<typeof serveOptions>;

/** `unwedge serve`; only its options are here, so that asking for help loads no gateway. */
export const form = defineForm({
  usage: 'serve [--config FILE] [--servers FILE] [--port N | --listen HOST:PORT] [OPTION...]',
  details: [
    'A gateway without code: POST /v1/sessions makes a session, POST /v1/sessions/ID/messages sends it a message (text for an agent, or a tool',
    'to call), GET /v1/sessions/ID/events streams what happens. A message that was accepted survives a kill: its session goes on at the next',
    'start. All routes are in docs/serve.md. /healthz says that it lives, /readyz that it makes progress; the dashboard is at /.',
    'SIGTERM and Ctrl-C let what is under way end for --drain; what waits is kept.',
    'Exit codes: 0 ended in order, 1 it could not start, 2 wrong usage, 141 nobody reads its stdout.',
  ].join('\n'),
  options: serveOptions,
});
