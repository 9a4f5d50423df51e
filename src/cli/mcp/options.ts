import { durationText } from '../../policy/durationText.ts';
import { presets } from '../../policy/presets.ts';
import type { Args, OptionSpecs } from '../command.ts';
import { configOption } from '../namedConfig.ts';

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
  },
  'call-timeout': {
    kind: 'duration',
    help: `limit on a call as a whole; else ${durationText(attemptMs)} for each attempt, ${durationText(overallMs)} in all`,
  },
  'tool-timeout': {
    kind: 'list',
    value: 'TOOL=DURATION',
    help: 'for calls of one tool the one limit in place of both',
  },
  'start-timeout': { kind: 'duration', help: 'limit on the start of the server and its handshake; else 3m' },
  retry: {
    kind: 'text',
    value: 'WHEN',
    help: 'when a call whose answer was lost is sent again: safe (read-only and idempotent ones), always, never; else safe',
  },
  'env-allow': {
    kind: 'list',
    value: 'NAME',
    help: 'a variable the server gets besides HOME, PATH and their like; without it, all of them',
  },
  config: configOption,
  log: { kind: 'text', value: 'FILE', help: 'log each message as a line of JSON, without what is in it' },
} as const satisfies OptionSpecs;

/** What `unwedge mcp` is given. */
export type McpArgs = Args<typeof mcpOptions>;
