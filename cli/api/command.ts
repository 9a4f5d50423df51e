import type { SpinningChoice } from '../../src/policy/spinning/face.ts';
import { type Args, type OptionSpecs, count, duration, flag, text, defineForm } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';

/** The options of `unwedge api`. */
export const apiOptions = {
  upstream: text('URL', 'the API: https://api.anthropic.com, https://api.openai.com, another'),
  port: count(0, 65_535, 0, 'the port to listen on; else a free one'),
  fallback: text('URL', 'another API of the same protocol, asked when the first cannot answer'),
  'fallback-key': text('NAME', 'the environment variable with the key for it; another host gets no other one'),
  'fallback-client-key': flag("send the client's own key to it, though its host is another one"),
  name: text('NAME', 'what it is recorded and restarted under; else the host of the API'),
  budget: duration('how long a request is tried again before its client gets an answer; else 4m'),
  spend: text(
    'LIMITS',
    'what all requests may spend: tokens=2M/day,requests=500/day; then the next is refused, as its client does not ask again',
  ),
  'headers-timeout': duration('limit on the headers of a stream, then it is asked for again; else 2m'),
  'idle-timeout': duration('limit on a stream without a byte; else 90s'),
  'first-content-timeout': duration(
    'limit on a stream that only pings or gives empty deltas before its first word; else 10m',
  ),
  'content-timeout': duration('the same between two words; else 5m'),
  'whole-timeout': duration('limit on an answer that is no stream, without a byte; else 5m'),
  spinning: text(
    'STEP',
    'how far it goes when calls of tools are answered alike again and again: off, notice (an event and a header), tell, hold, or end; else notice',
    ['off', 'notice', 'tell', 'hold', 'end'] satisfies readonly SpinningChoice[],
  ),
  drain: duration('how long answers may take to end when it is told to stop; else 10s'),
  config: configOption,
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge api`. */
export type ApiArgs = Args<typeof apiOptions>;

/** `unwedge api`; only its options are here, so that asking for help loads no runtime. */
export const form = defineForm({
  usage: 'api --upstream URL [OPTION...]',
  details: [
    'Listens on this machine alone, and prints what to set in each client. Bytes pass as they are.',
    'What fails before the first byte of an answer (429, 500, 502, 503, 504, 529, a lost connection, no headers) is asked for again, by the hints',
    'of the API, until the client has its answer or --budget is over. A stream that falls silent or breaks is ended so that its client',
    'goes on by itself: Claude Code by a cut, Codex by `response.failed`, others by an error event; never in good order.',
    'A key that is over its limit waits alone; an API that is down is tried by one request, for which the others wait.',
    'The conversation in each request is looked at for calls that are made and answered alike again and again. `--spinning end` ends the turn after 20',
    'equal failures: the request is refused, as its client does not ask again. A stream that says one passage over and over it ends as one that broke.',
    'Nothing of what is said is kept, and of headers the id of a conversation that repeats itself alone: `unwedge status` and `unwedge events` show what failed.',
    'SIGTERM and Ctrl-C let answers end for --drain first.',
    'Exit codes: 0 never, 1 it could not listen, 2 wrong usage, 128+n ended by signal n.',
  ].join('\n'),
  options: apiOptions,
});
