import type { AnyEventObject, InspectionEvent } from 'xstate';
import type { Clock, Random } from '../policy/clock.ts';
import type { Facts } from '../policy/facts/facts.ts';
import {
  anything,
  callback,
  choice,
  duration,
  type Key,
  type Given,
  test,
  text,
  type Values,
} from '../policy/options/optionKeys.ts';
import { readOptions } from '../policy/options/readOptions.ts';
import { show } from '../policy/text/showValue.ts';
import { type CheckedChildSpec, type ChildSpec, checkChildSpec, intensity } from './childSpec.ts';

/**
 * Children that are restarted when one has to be: it alone (`one_for_one`), all children (`one_for_all`), or it and those started after it (`rest_for_one`).
 * Temporary children are stopped with the others and do not come back.
 */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one';

/** Rule by which the end of significant children ends the supervisor: never, of any of them, or of the last of them. */
export type AutoShutdown = 'never' | 'any_significant' | 'all_significant';

const subtreeKeys = {
  /** @defaultValue 'one_for_one' */
  strategy: choice(['one_for_one', 'one_for_all', 'rest_for_one'], { given: {} as Strategy, default: 'one_for_one' }),
  /**
   * Restarts within `periodMs` before it gives up, at least 0, `Infinity` for never: of one child, and of all children together without the first of
   * each. The root gives up the one child alone, and has the others wait longer. @defaultValue 30
   */
  intensity: intensity(30),
  /** In ms above 0. @defaultValue 10000 */
  periodMs: duration({ default: 10_000 }),
  /** @defaultValue 'never' */
  autoShutdown: choice(['never', 'any_significant', 'all_significant'], {
    given: {} as AutoShutdown,
    default: 'never',
  }),
  /** Longest orderly stop in ms above 0, whatever the limits of the children; what is left then is stopped at once. @defaultValue 60000 */
  maxStopMs: duration({ default: 60_000 }),
  /** Started in this order, stopped in reverse. */
  children: anything as Key<readonly ChildSpec[] | undefined>,
};

/** Options of every supervisor. */
export interface SubtreeOptions extends Given<typeof subtreeKeys> {}

/** Options of a supervisor that were checked, with their defaults filled in. */
export interface CheckedSubtreeOptions extends Values<typeof subtreeKeys> {
  readonly children: readonly CheckedChildSpec[];
}

const ownSupervisorKeys = {
  /** Name of it in events and in the tree. @defaultValue 'root' */
  name: text(),
  /** Source of time and timers. */
  clock: test<Clock, { readonly required: true }>('a clock', isObject, { required: true }),
  /** A source of chance in [0, 1). */
  random: callback<Random, { readonly required: true }>({ required: true }),
  /** Sink for its events. @defaultValue nowhere */
  facts: anything as Key<Facts | undefined>,
  /** Hears what any child in the tree emits. A throw is told and ignored. */
  onEmit: callback<(child: string, event: AnyEventObject) => void>(),
  /** Hears every event of the actor system; doubles the cost of each. A throw is told and ignored. */
  inspect: callback<(event: InspectionEvent) => void>(),
};

const supervisorKeys = { ...subtreeKeys, ...ownSupervisorKeys };

/** Options of the root supervisor; a nested one takes time, chance and listeners from its parent. */
export interface SupervisorOptions extends SubtreeOptions, Given<typeof ownSupervisorKeys> {}

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
