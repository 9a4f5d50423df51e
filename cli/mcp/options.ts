import { durationText } from '../../src/policy/duration.ts';
import { presets } from '../../src/policy/presets.ts';
import type { Args, OptionSpecs } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';

const { idleMs, attemptMs, overallMs } = presets.mcp.limits;

/** The options of `unwedge mcp`. */
export const mcpOptions = {
  name: {
    kind: 'text',
    value: 'NAME',
    help: 'what it is recorded and restarted under; else the name of its package, image or script',
  },
  'idle-timeout': {
    kind: 'duration',
    help: `after so long without answer or progress of a call the server is pinged, and killed if it does not answer; else ${durationText(idleMs)}`,
  },
  'when-alive': {
    kind: 'text',
    value: 'WHAT',
    help: 'what becomes of such a call when the server does answer: wait (for its limit as a whole) or end; else wait',
    choices: ['wait', 'end'],
  },
  'call-timeout': {
    kind: 'duration',
    help: `limit on a call as a whole; else ${durationText(attemptMs)} for each attempt, ${durationText(overallMs)} in all`,
  },
  'tool-timeout': {
    kind: 'list',
    value: 'TOOL=DURATION',
    help: 'for calls of one tool the limit on a call as a whole; its server is pinged after --idle-timeout all the same',
  },
  'start-timeout': { kind: 'duration', help: 'limit on the start of the server and its handshake; else 3m' },
  retry: {
    kind: 'text',
    value: 'WHEN',
    help: 'when a call whose answer was lost is sent again: safe (read-only and idempotent ones), always (all but what the configuration declares mutating), never; else safe',
    choices: ['safe', 'always', 'never'],
  },
  'env-allow': {
    kind: 'list',
    value: 'NAME',
    help: 'a variable the server gets besides the safe ones (HOME, PATH, certificates, proxies and their like); without it, all of them',
  },
  url: { kind: 'text', value: 'URL', help: 'a server that is reached by HTTP, in place of a command' },
  'header-env': {
    kind: 'list',
    value: 'NAME=VARIABLE',
    help: 'with --url: a header to send, with the value of a variable of the environment',
  },
  'header-file': {
    kind: 'text',
    value: 'FILE',
    help: 'with --url: headers to send, each a line `Name: value`',
  },
  transport: {
    kind: 'text',
    value: 'WHICH',
    help: 'with --url: http (Streamable HTTP), sse (the older one), auto (the second where the first is refused); else auto',
    choices: ['http', 'sse', 'auto'],
  },
  'sign-in': { kind: 'flag', help: 'with --url: sign in to the server with a browser, and exit' },
  'client-id': {
    kind: 'text',
    value: 'ID',
    help: 'with --sign-in: of a client that the server knows; else one is registered. With --client-secret-env: of this program',
  },
  'client-secret-env': {
    kind: 'text',
    value: 'VARIABLE',
    help: 'with --client-id: the variable that holds its secret; without --sign-in nobody has to sign in then',
  },
  scope: { kind: 'text', value: 'SCOPE', help: 'what a sign-in is to allow; else what the server asks for' },
  'callback-port': {
    kind: 'text',
    value: 'PORT',
    help: 'with --sign-in: where the browser comes back to on 127.0.0.1, for a client that was registered with it; else any',
  },
  servers: {
    kind: 'text',
    value: 'FILE',
    help: 'in place of a command: the servers under mcpServers in this file (JSON, as clients have it), whose tools are SERVER__TOOL',
  },
  listen: {
    kind: 'text',
    value: '127.0.0.1:PORT',
    help: 'serve many clients by Streamable HTTP, each with a server of its own, in place of one on stdin; port 0: a free one',
  },
  shared: { kind: 'flag', help: 'with --listen: one server for all clients, which then share what it keeps' },
  'token-file': {
    kind: 'text',
    value: 'FILE',
    help: 'with --listen: holds the token that clients show, and is made where it is not there; else a new one at each start',
  },
  'no-token': { kind: 'flag', help: 'with --listen: whoever is on this machine may use the server' },
  'session-timeout': {
    kind: 'duration',
    help: 'with --listen: a client without a request or an open stream for so long is taken for gone; else 30m',
  },
  'max-sessions': { kind: 'count', max: 10_000, defaultValue: 32, help: 'with --listen: clients at a time; else 32' },
  'no-cache': {
    kind: 'flag',
    help: 'wait for the server at each start: answer no handshake and no list from the record of an earlier start, and keep none',
  },
  config: configOption,
  otel: otelOption,
  log: { kind: 'text', value: 'FILE', help: 'log each message as a line of JSON, without what is in it' },
} as const satisfies OptionSpecs;

/** Arguments of `unwedge mcp`. */
export type McpArgs = Args<typeof mcpOptions>;
