import type { Duration } from '../policy/duration.ts';
import type { AnyEventObject, InspectionEvent } from 'xstate';
import type { Clock, Random } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import {
  anything,
  callback,
  choice,
  duration,
  type Key,
  type KeysOf,
  test,
  text,
  type Values,
} from '../policy/optionKeys.ts';
import { readOptions } from '../policy/readOptions.ts';
import { show } from '../policy/showValue.ts';
import { type CheckedChildSpec, type ChildSpec, checkChildSpec, intensity } from './childSpec.ts';

/**
 * Children that are restarted when one has to be: it alone (`one_for_one`), all children (`one_for_all`), or it and those started after it (`rest_for_one`).
 * Temporary children are stopped with the others and do not come back.
 */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one';

/** Rule by which the end of significant children ends the supervisor: never, of any of them, or of the last of them. */
export type AutoShutdown = 'never' | 'any_significant' | 'all_significant';

/** Options of every supervisor. */
export interface SubtreeOptions {
  /** @defaultValue 'one_for_one' */
  readonly strategy?: Strategy | undefined;
  /**
   * Restarts within `periodMs` before it gives up, at least 0, `Infinity` for never: of one child, and of all children together without the first of
   * each. The root gives up the one child alone, and has the others wait longer. @defaultValue 30
   */
  readonly intensity?: number | undefined;
  /** In ms above 0. @defaultValue 10000 */
  readonly periodMs?: Duration | undefined;
  /** @defaultValue 'never' */
  readonly autoShutdown?: AutoShutdown | undefined;
  /** Longest orderly stop in ms above 0, whatever the limits of the children; what is left then is stopped at once. @defaultValue 60000 */
  readonly maxStopMs?: Duration | undefined;
  /** Started in this order, stopped in reverse. */
  readonly children?: readonly ChildSpec[] | undefined;
}

/** Options of the root supervisor; a nested one takes time, chance and listeners from its parent. */
export interface SupervisorOptions extends SubtreeOptions {
  /** Name of it in events and in the tree. @defaultValue 'root' */
  readonly name?: string | undefined;
  /** Source of time and timers. */
  readonly clock: Clock;
  /** A source of chance in [0, 1). */
  readonly random: Random;
  /** Sink for its events. @defaultValue nowhere */
  readonly facts?: Facts | undefined;
  /** Hears what any child in the tree emits. A throw is told and ignored. */
  readonly onEmit?: ((child: string, event: AnyEventObject) => void) | undefined;
  /** Hears every event of the actor system; doubles the cost of each. A throw is told and ignored. */
  readonly inspect?: ((event: InspectionEvent) => void) | undefined;
}

/** Options of a supervisor that were checked, with their defaults filled in. */
export interface CheckedSubtreeOptions {
  readonly strategy: Strategy;
  readonly intensity: number;
  readonly periodMs: number;
  readonly autoShutdown: AutoShutdown;
  readonly maxStopMs: number;
  readonly children: readonly CheckedChildSpec[];
}

const subtreeKeys = {
  strategy: choice(['one_for_one', 'one_for_all', 'rest_for_one'], { default: 'one_for_one' }),
  intensity: intensity(30),
  periodMs: duration({ default: 10_000 }),
  autoShutdown: choice(['never', 'any_significant', 'all_significant'], { default: 'never' }),
  maxStopMs: duration({ default: 60_000 }),
  children: anything as Key<readonly ChildSpec[] | undefined>,
} satisfies KeysOf<SubtreeOptions>;

const supervisorKeys = {
  ...subtreeKeys,
  name: text(),
  clock: test<Clock, { readonly required: true }>('a clock', isObject, { required: true }),
  random: callback<Random, { readonly required: true }>({ required: true }),
  facts: anything as Key<Facts | undefined>,
  onEmit: callback<SupervisorOptions['onEmit']>(),
  inspect: callback<SupervisorOptions['inspect']>(),
} satisfies KeysOf<SupervisorOptions>;

/**
 * Checks the options of a supervisor, its children included, and fills in defaults.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkSubtreeOptions(options: SubtreeOptions): CheckedSubtreeOptions {
  return withChildren(readOptions('', options, subtreeKeys));
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkSupervisorOptions(options: SupervisorOptions): CheckedSubtreeOptions {
  return withChildren(readOptions('', options, supervisorKeys));
}

function withChildren({ strategy, intensity, periodMs, autoShutdown, maxStopMs, ...read }: Values<typeof subtreeKeys>) {
  const children = (read.children ?? []).map(checkChildSpec);
  const ids = new Set<string>();
  for (const spec of children) {
    checkUnique('id', spec.id, (id) => ids.has(id));
    checkSignificance(spec, autoShutdown);
    ids.add(spec.id);
  }
  return { strategy, intensity, periodMs, autoShutdown, maxStopMs, children };
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** @throws RangeError when the value is taken. */
export function checkUnique(option: 'id' | 'systemId', value: string, taken: (value: string) => boolean): void {
  if (!taken(value)) return;
  const among = option === 'id' ? 'among the children' : 'in the tree';
  throw new RangeError(`Expected \`${option}\` to be unique ${among}, got ${show(value)} again`);
}

/** @throws RangeError when a child is significant under a supervisor that never looks at it. */
export function checkSignificance(spec: CheckedChildSpec, autoShutdown: AutoShutdown): void {
  if (spec.significant && autoShutdown === 'never') {
    throw new RangeError(`Expected \`${spec.id}.significant\` to be false while \`autoShutdown\` is never, got true`);
  }
}
