import { formatDuration } from './text/duration.ts';
import { type Effect, effects } from './effects.ts';
import {
  boolean,
  byName,
  choice,
  duration,
  type Given,
  list,
  section,
  text,
  type Values,
  type Tell,
} from './options/optionKeys.ts';
import type { Limits } from './policy.ts';
import { reconcileKey } from './reconcileRule.ts';
import type { Reconciler } from './reconciler.ts';
import { readGiven } from './options/readOptions.ts';

const ofIntegration = 'that of the integration';
const keepHelp = 'How long a call goes on after a limit ended it: the same call, made again, joins it. 0: it is ended.';

/** The options of a tool. */
const toolKeys = {
  /** Effect of its calls on the world. @defaultValue that of the integration */
  effect: choice(effects, { usually: ofIntegration, help: 'What its calls may do to the world.' }),
  /** Without a sign of life, per attempt, in ms above 0. @defaultValue that of the integration */
  idleMs: duration({ usually: ofIntegration, help: 'Limit without a sign of life, for each attempt.' }),
  /** Per attempt, in ms above 0; a limit on the whole call below it is raised to it. @defaultValue that of the integration */
  attemptMs: duration({ usually: ofIntegration, help: 'Limit on each attempt.' }),
  /**
   * Declares the tool long-running: its own limit for a whole call and each attempt, in ms, in place of those of the integration and of
   * the session's watchdog. The limit without a sign of life stays: give the tool an `idleMs`, or an MCP server `whenAlive: 'wait'`.
   */
  longRunningMs: duration({
    help: 'Declares the tool long-running: its own limit on a call and each attempt, in place of those and of the watchdog. The limit without a sign of life stays: `idleMs`, or `whenAlive: "wait"` of an MCP server.',
  }),
  /**
   * Time for which a session's call goes on after a limit has ended it, in ms; 0 is none. The same call made again joins it, and gets its answer once.
   * @defaultValue that of the integration
   */
  keepMs: duration({ zero: true, usually: ofIntegration, help: keepHelp }),
  /** Its calls are polls: equal answers are waiting, and equal failures are told of at most. @defaultValue false */
  poll: boolean({ help: 'Its calls are polls: equal answers are no repetition, and equal failures end nothing.' }),
  /** Its calls may repeat in any way: they are no repetition (`session.spinning`). @defaultValue they are judged */
  repeats: choice(['allowed'], { usually: 'they are judged', help: 'Its calls may repeat in any way.' }),
  /** Rule that finds out what became of a call whose answer was lost, before it is made again. @defaultValue that of the integration */
  reconcile: reconcileKey,
  /**
   * Of an MCP server: equal calls of one client or session that are under way are one, as its calls only read; none joins one that began before a call that
   * may have effects ended. No hint of the server switches it on. @defaultValue false
   */
  join: boolean({
    usually: 'false',
    help: 'Of an MCP server: equal calls of one client or session that are under way are one. For tools that only read.',
  }),
  /**
   * Of an MCP server: the name that it is listed under, and called by alone. Of a pattern with one `*`: a name with one, which is what that stands for.
   * @defaultValue its own
   */
  rename: text({
    form: (name) => /^[\w./*-]{1,64}$/.test(name),
    expected: 'up to 64 letters, digits, _, -, . and /, with a * for that of a pattern',
    usually: 'its own name',
    help: 'Of an MCP server: the name that it is listed under, and called by alone.',
  }),
  /** Of an MCP server: the description that it is listed with. @defaultValue its own */
  describe: text({
    usually: 'its own description',
    help: 'Of an MCP server: the description that it is listed with.',
  }),
};

const patterns = (help: string, usually: string) =>
  list(text(), { expected: 'an array of names or patterns', help, usually });

/** Options on which tools of an MCP server there are for who calls it. */
export const toolAccessKeys = {
  /** Names or patterns: no other tool is listed, or may be called. @defaultValue all are */
  allow: patterns(
    'Of an MCP server: the tools that are listed and may be called, by names or patterns.',
    'all of them',
  ),
  /** Names or patterns of tools that are not listed, and may not be called, whatever allows them. @defaultValue none */
  deny: patterns('Of an MCP server: tools that are not listed and may not be called, whatever allows them.', 'none'),
  /**
   * Goes on listing its tools as they were first seen: one that has changed since, or is new, is held until somebody accepts it (`unwedge accept`).
   * @defaultValue false
   */
  pin: boolean({
    usually: 'false',
    help: 'Of an MCP server: holds tools that changed or are new until they are accepted.',
  }),
};

/** Rules on which tools of an MCP server there are, as one place has them. */
export interface ToolAccessOptions extends Given<typeof toolAccessKeys> {}

/** Options of a tool. */
export interface ToolOptions extends Given<typeof toolKeys> {}

/** Tools by name or pattern, as options have them. */
export const toolsKey = byName(section(toolKeys, { given: {} as ToolOptions, id: 'tool' }, toolRule), {
  help: 'Its tools by name, or by pattern (`read_*`): of several that fit, the most exact one wins.',
});

/** {@link ToolOptions}, checked; limits in ms. */
export type ToolSettings = Partial<Values<typeof toolKeys>>;

/** A tool as far as it is known. */
export interface KnownTool extends ToolSettings {
  /** Tells what the other side says its calls do, as of now; asked where nobody here has said. */
  readonly learnedEffect?: (() => Effect | undefined) | undefined;
  /** Its rule, bound to its integration. */
  readonly reconciler?: Reconciler | undefined;
}

/** The tools of an integration by name. */
export interface Tools {
  get(name: string): KnownTool | undefined;
  /** 0 when none has settings of its own. */
  readonly size: number;
}

/**
 * @param name - of the integration, for errors.
 * @throws TypeError or RangeError that names the tool, the option and its value.
 */
export function readTools(
  name: string,
  tools: Readonly<Record<string, ToolOptions>> = {},
): Readonly<Record<string, ToolSettings>> {
  return readGiven(name, { tools }, { tools: toolsKey }).tools ?? {};
}

/** The limits of a call of a tool: its own where it has any, else those of its integration. */
export function toolLimits(limits: Limits, tool: ToolSettings | undefined): Limits {
  if (tool === undefined) return limits;
  const { idleMs = limits.idleMs, attemptMs = limits.attemptMs, longRunningMs } = tool;
  return longRunningMs === undefined
    ? { idleMs, attemptMs, overallMs: Math.max(limits.overallMs, tool.attemptMs ?? 0) }
    : { idleMs, attemptMs: longRunningMs, overallMs: longRunningMs };
}

/** Refuses to join calls of a tool that is said to change something, and what {@link limitRule} refuses. */
function toolRule(given: ToolSettings, tell: Tell): void {
  limitRule(given, tell);
  const { join, effect } = given;
  if (join === true && effect !== undefined && effect !== 'readOnly')
    tell('join', { says: `to be left out: calls of a tool that is ${effect} are never one` });
}

/** Limits as they are given in one place. */
interface GivenLimits {
  readonly attemptMs?: number | undefined;
  readonly overallMs?: number | undefined;
  readonly longRunningMs?: number | undefined;
}

/** Limits and those they are over before, where both are given. A limit of silence may be longer than both: there it is none. */
const pairs = [
  ['attemptMs', 'overallMs'],
  ['attemptMs', 'longRunningMs'],
] as const;

/** Refuses a limit on an attempt that is never reached, since one that is given beside it is over before. `Infinity` is no limit. */
export function limitRule(given: GivenLimits, tell: Tell): void {
  for (const [inner, outer] of pairs) {
    const innerMs = given[inner];
    const outerMs = given[outer];
    if (innerMs === undefined || outerMs === undefined || innerMs === Number.POSITIVE_INFINITY || innerMs <= outerMs)
      continue;
    tell(inner, { says: `to be at most \`${outer}\` (${formatDuration(outerMs)}), which is over before` });
    return;
  }
}
