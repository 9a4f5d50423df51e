import { durationText } from '../../src/policy/text/face.ts';
import { presets } from '../../src/policy/face.ts';
import { type Args, type OptionSpecs, duration, flag, list, text } from '../command.ts';
import { configOption } from '../namedConfig.ts';
import { otelOption } from '../otel.ts';
import { spinningOption } from '../spinning.ts';

/** The options of `unwedge acp`. */
export const acpOptions = {
  name: text('NAME', 'what it is recorded and restarted under; else the name of its package or program'),
  'idle-timeout': duration(
    `limit on a turn that makes no progress; while a person is asked it stands still; else ${durationText(presets.acp.limits.idleMs)}`,
  ),
  'tool-timeout': duration('the same while a tool of the turn is under way; else 1h'),
  'cancel-timeout': duration('how long the agent may take to end a turn that was cancelled; else 5s'),
  'start-timeout': duration('limit on its start, and on each session that it opens or loads; else 3m'),
  errors: text(
    'HOW',
    'how a turn that failed is told: error (of JSON-RPC), or message (a last message, for editors that show errors badly); else error',
    ['error', 'message'],
  ),
  spinning: spinningOption,
  mcp: flag('put the MCP servers that the editor hands to a session behind `unwedge mcp`'),
  'env-allow': list(
    'NAME',
    'a variable the agent gets besides the safe ones (HOME, PATH, certificates, proxies and their like); without it, all of them',
  ),
  check: flag('print which musts of the protocol the agent keeps, and end'),
  inbox: flag(
    'each permission that the agent asks for waits for `unwedge inbox` as well as for the editor; declined after 15m',
  ),
  config: configOption,
  otel: otelOption,
} as const satisfies OptionSpecs;

/** Arguments of `unwedge acp`. */
export type AcpArgs = Args<typeof acpOptions>;
