import { durationText } from '../../src/policy/text/face.ts';
import { presets } from '../../src/policy/face.ts';
import { type Args, type OptionSpecs, count, duration, flag, list, text } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';

const { idleMs, attemptMs, overallMs } = presets.mcp.limits;

/** The options of `unwedge mcp`. */
export const mcpOptions = {
  name: text('NAME', 'what it is recorded and restarted under; else the name of its package, image or script'),
  'idle-timeout': duration(
    `after so long without answer or progress of a call the server is pinged, and killed if it does not answer; else ${durationText(idleMs)}`,
  ),
  'when-alive': text(
    'WHAT',
    'what becomes of such a call when the server does answer: wait (for its limit as a whole) or end; else wait',
    ['wait', 'end'],
  ),
  tasks: text(
    'WHICH',
    'tools that are called as tasks for a client that knows none: required (those that take no other call), optional (those that may be one, too), never; else required',
    ['required', 'optional', 'never'],
  ),
  keep: text(
    'DURATION',
    'how long a call goes on after a limit has ended it, while the server lives: the same call, made again, gets its answer; off: it is told to end; else 10m',
  ),
  'max-result': text(
    'SIZE',
    'a result with more text than so (100kB) is told as head and tail; the whole is kept for a day, and the tool unwedge_read_result reads it; else any is told whole',
  ),
  spinning: text(
    'STEP',
    'how far repetition of equal calls with equal answers goes, by client: off, notice (told to people), tell (in the answer), hold (refused), end; else notice, and tell for equal failures',
    ['off', 'notice', 'tell', 'hold', 'end'],
  ),
  'call-timeout': duration(
    `limit on a call as a whole; else ${durationText(attemptMs)} for each attempt, ${durationText(overallMs)} in all`,
  ),
  allow: list('TOOL', 'a tool, or a pattern (read_*), that is listed and may be called: no other is'),
  deny: list('TOOL', 'a tool, or a pattern, that is not listed and may not be called, whatever allows it'),
  pin: flag('hold tools that changed, or are new, since they were first seen, until `unwedge accept`'),
  'tool-timeout': list(
    'TOOL=DURATION',
    'for calls of one tool, or of those of a pattern, the limit on a call as a whole; its server is pinged after --idle-timeout all the same',
  ),
  'start-timeout': duration('limit on the start of the server and its handshake; else 3m'),
  retry: text(
    'WHEN',
    'when a call whose answer was lost is sent again: safe (read-only and idempotent ones), always (all but what the configuration declares mutating), never; else safe',
    ['safe', 'always', 'never'],
  ),
  'env-allow': list(
    'NAME',
    'a variable the server gets besides the safe ones (HOME, PATH, certificates, proxies and their like); without it, all of them',
  ),
  url: text('URL', 'a server that is reached by HTTP, in place of a command'),
  'header-env': list('NAME=VARIABLE', 'with --url: a header to send, with the value of a variable of the environment'),
  'header-file': text('FILE', 'with --url: headers to send, each a line `Name: value`'),
  transport: text(
    'WHICH',
    'with --url: http (Streamable HTTP), sse (the older one), auto (the second where the first is refused); else auto',
    ['http', 'sse', 'auto'],
  ),
  'sign-in': flag('with --url: sign in to the server with a browser, and exit'),
  device: flag(
    'with --url: sign in with a browser elsewhere, such as on a phone: an address and a code are told on stderr and in the inbox. With --sign-in at once, else when a call needs it',
  ),
  'client-id': text(
    'ID',
    'with --sign-in or --device: of a client that the server knows; else one is registered. With --client-secret-env: of this program',
  ),
  'client-secret-env': text(
    'VARIABLE',
    'with --client-id: the variable that holds its secret; without --sign-in nobody has to sign in then',
  ),
  scope: text('SCOPE', 'what a sign-in is to allow; else what the server asks for'),
  'callback-port': text(
    'PORT',
    'with --sign-in: where the browser comes back to on 127.0.0.1, for a client that was registered with it; else any',
  ),
  servers: text(
    'FILE',
    'in place of a command: the servers under mcpServers in this file (JSON, as clients have it), whose tools are SERVER__TOOL',
  ),
  listen: text(
    '127.0.0.1:PORT',
    'serve many clients by Streamable HTTP, each with a server of its own, in place of one on stdin; port 0: a free one',
  ),
  shared: flag('with --listen: one server for all clients, which then share what it keeps'),
  'token-file': text(
    'FILE',
    'with --listen: holds the token that clients show, and is made where it is not there; else a new one at each start',
  ),
  'no-token': flag('with --listen: whoever is on this machine may use the server'),
  'session-timeout': duration(
    'with --listen: a client without a request or an open stream for so long is taken for gone; else 30m',
  ),
  'max-sessions': count(1, 10_000, 32, 'with --listen: clients at a time; else 32'),
  'no-cache': flag(
    'wait for the server at each start: answer no handshake and no list from the record of an earlier start, and keep none',
  ),
  inbox: flag(
    'what the server asks people (elicitation) and its client has nobody for waits for `unwedge inbox`; cancelled after 15m',
  ),
  config: configOption,
  otel: otelOption,
  log: text('FILE', 'log each message as a line of JSON, without what is in it'),
} as const satisfies OptionSpecs;

/** Arguments of `unwedge mcp`. */
export type McpArgs = Args<typeof mcpOptions>;
