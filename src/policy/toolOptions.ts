import { type Effect, effects } from './effects.ts';
import { checkDuration, checkKeys, checkOneOf } from './options.ts';
import type { Limits } from './policy.ts';

/** What a tool says about itself. */
export interface ToolOptions {
  /** What its calls may do to the world. @defaultValue that of the integration */
  readonly effect?: Effect | undefined;
  /** Without a sign of life, per attempt, in ms. @defaultValue that of the integration */
  readonly idleMs?: number | undefined;
  /** Per attempt, in ms. @defaultValue that of the integration */
  readonly attemptMs?: number | undefined;
  /**
   * Declares the tool long-running: its own limit for a whole call and each attempt, in ms, in place of those of the integration and of
   * the session's watchdog.
   */
  readonly longRunningMs?: number | undefined;
}

/** A tool as far as it is known. */
export interface KnownTool extends ToolOptions {
  /** What the other side says its calls do, as of now; asked where nobody here has said. */
  readonly learnedEffect?: (() => Effect | undefined) | undefined;
}

/** The tools of an integration by name. */
export interface Tools {
  get(name: string): KnownTool | undefined;
  /** 0 when none has settings of its own. */
  readonly size: number;
}

/** @throws TypeError or RangeError that names the tool, the option and its value. */
export function checkTools(name: string, tools: Readonly<Record<string, ToolOptions>> = {}): Tools {
  if (typeof tools !== 'object' || tools === null) throw new TypeError(`Expected \`${name}\` to be an object`);
  for (const [tool, options] of Object.entries(tools)) {
    const option = `${name}.${tool}`;
    checkKeys(option, options, ['effect', 'idleMs', 'attemptMs', 'longRunningMs']);
    if (options.effect !== undefined) checkOneOf(`${option}.effect`, options.effect, effects);
    for (const key of ['idleMs', 'attemptMs', 'longRunningMs'] as const) {
      if (options[key] !== undefined) checkDuration(`${option}.${key}`, options[key]);
    }
  }
  return new Map(Object.entries(tools));
}

/** The limits of a call of a tool: its own where it has any, else those of its integration. */
export function toolLimits(limits: Limits, tool: ToolOptions | undefined): Limits {
  if (tool === undefined) return limits;
  const { idleMs = limits.idleMs, attemptMs = limits.attemptMs, longRunningMs } = tool;
  return longRunningMs === undefined
    ? { idleMs, attemptMs, overallMs: limits.overallMs }
    : { idleMs, attemptMs: longRunningMs, overallMs: longRunningMs };
}
