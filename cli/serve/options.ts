import type { Args, OptionSpecs } from '../command.ts';

/** Port that it listens at when nothing else is said. */
export const usualPort = 7420;

/** Time in ms that work under way may take to end. With the 5 s of servers that do not obey it stays below the 30 s of Kubernetes. */
export const usualDrainMs = 20_000;

/** The options of `unwedge serve`. */
export const serveOptions = {
  config: {
    kind: 'text',
    value: 'FILE',
    help: 'the configuration; where it is JSON, with mcpServers, agents and hooks beside it. Else UNWEDGE_CONFIG',
  },
  servers: {
    kind: 'text',
    value: 'FILE',
    help: 'mcpServers (JSON, as clients have it), agents and hooks, where they do not stand in --config',
  },
  port: {
    kind: 'count',
    min: 0,
    max: 65_535,
    defaultValue: usualPort,
    help: `the port on 127.0.0.1, 0 for a free one; else ${usualPort}`,
  },
  listen: {
    kind: 'text',
    value: 'HOST:PORT',
    help: 'in place of --port: another address, such as 0.0.0.0:7420 in a container (with --token-file); port 0: a free one',
  },
  'token-file': {
    kind: 'text',
    value: 'FILE',
    help: 'holds the token that clients show, and is made where it is not there; else a new one at each start',
  },
  'no-token': { kind: 'flag', help: 'whoever is on this machine may use it' },
  'max-sessions': { kind: 'count', max: 1_000_000, defaultValue: 10_000, help: 'sessions at a time; else 10000' },
  drain: {
    kind: 'duration',
    help: `how long what is under way may take to end when it is told to stop; else ${usualDrainMs / 1000}s`,
  },
} as const satisfies OptionSpecs;

/** Arguments of `unwedge serve`. */
export type ServeArgs = Args<typeof serveOptions>;
