import type { Args, OptionSpecs } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';

/** The options of `unwedge api`. */
export const apiOptions = {
  upstream: { kind: 'text', value: 'URL', help: 'the API: https://api.anthropic.com, https://api.openai.com, another' },
  port: { kind: 'count', min: 0, max: 65_535, defaultValue: 0, help: 'the port to listen on; else a free one' },
  fallback: {
    kind: 'text',
    value: 'URL',
    help: 'another API of the same protocol, asked when the first cannot answer',
  },
  'fallback-key': {
    kind: 'text',
    value: 'NAME',
    help: 'the environment variable with the key for it; another host gets no other one',
  },
  'fallback-client-key': { kind: 'flag', help: "send the client's own key to it, though its host is another one" },
  name: { kind: 'text', value: 'NAME', help: 'what it is recorded and restarted under; else the host of the API' },
  budget: { kind: 'duration', help: 'how long a request is tried again before its client gets an answer; else 4m' },
  'headers-timeout': {
    kind: 'duration',
    help: 'limit on the headers of a stream, then it is asked for again; else 2m',
  },
  'idle-timeout': { kind: 'duration', help: 'limit on a stream without a byte; else 90s' },
  'first-content-timeout': {
    kind: 'duration',
    help: 'limit on a stream that only pings or gives empty deltas before its first word; else 10m',
  },
  'content-timeout': { kind: 'duration', help: 'the same between two words; else 5m' },
  'whole-timeout': { kind: 'duration', help: 'limit on an answer that is no stream, without a byte; else 5m' },
  drain: { kind: 'duration', help: 'how long answers may take to end when it is told to stop; else 10s' },
  config: configOption,
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge api`. */
export type ApiArgs = Args<typeof apiOptions>;
