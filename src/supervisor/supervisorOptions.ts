import type { AnyEventObject, InspectionEvent } from 'xstate';
import type { Clock, Random } from '../policy/clock.ts';
import type { Facts } from '../policy/facts.ts';
import { checkDuration, checkFunction, checkName, checkOneOf, show } from '../policy/options.ts';
import { type CheckedChildSpec, type ChildSpec, checkChildSpec, checkIntensity } from './childSpec.ts';

/**
 * Who is restarted when a child has to be: it alone (`one_for_one`), all children (`one_for_all`), or it and those
 * started after it (`rest_for_one`). Temporary children are stopped with the others and do not come back.
 */
export type Strategy = 'one_for_one' | 'one_for_all' | 'rest_for_one';

/** Whether the end of significant children ends the supervisor: never, of any of them, or of the last of them. */
export type AutoShutdown = 'never' | 'any_significant' | 'all_significant';

/** What every supervisor can be told. */
export interface SubtreeOptions {
  /** @defaultValue 'one_for_one' */
  readonly strategy?: Strategy | undefined;
  /** Restarts of all children within `periodMs` before it gives up; at least 0, `Infinity` for never. @defaultValue 30 */
  readonly intensity?: number | undefined;
  /** In ms above 0. @defaultValue 10000 */
  readonly periodMs?: number | undefined;
  /** @defaultValue 'never' */
  readonly autoShutdown?: AutoShutdown | undefined;
  /** Longest orderly stop in ms above 0, whatever the limits of the children; what is left then is stopped at once. @defaultValue 60000 */
  readonly maxStopMs?: number | undefined;
  /** Started in this order, stopped in reverse. */
  readonly children?: readonly ChildSpec[] | undefined;
}

/** What the root supervisor is told; a nested one takes time, chance and listeners from its parent. */
export interface SupervisorOptions extends SubtreeOptions {
  /** @defaultValue 'root' */
  readonly name?: string | undefined;
  readonly clock: Clock;
  readonly random: Random;
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

/**
 * Checks the options of a supervisor, its children included, and fills in defaults.
 * @throws TypeError or RangeError that names the option and its value.
 */
export function checkSubtreeOptions(options: SubtreeOptions): CheckedSubtreeOptions {
  const autoShutdown = checkOneOf('autoShutdown', options.autoShutdown ?? 'never', [
    'never',
    'any_significant',
    'all_significant',
  ]);
  const children = (options.children ?? []).map(checkChildSpec);
  const ids = new Set<string>();
  for (const spec of children) {
    checkUnique('id', spec.id, (id) => ids.has(id));
    checkSignificance(spec, autoShutdown);
    ids.add(spec.id);
  }
  return {
    strategy: checkOneOf('strategy', options.strategy ?? 'one_for_one', ['one_for_one', 'one_for_all', 'rest_for_one']),
    intensity: checkIntensity('intensity', options.intensity ?? 30),
    periodMs: checkDuration('periodMs', options.periodMs ?? 10_000),
    autoShutdown,
    maxStopMs: checkDuration('maxStopMs', options.maxStopMs ?? 60_000),
    children,
  };
}

/** @throws TypeError or RangeError that names the option and its value. */
export function checkSupervisorOptions(options: SupervisorOptions): CheckedSubtreeOptions {
  if (options.name !== undefined) checkName('name', options.name);
  if (typeof options.clock !== 'object' || options.clock === null) {
    throw new TypeError(`Expected \`clock\` to be a clock, got ${show(options.clock)}`);
  }
  checkFunction('random', options.random);
  if (options.onEmit !== undefined) checkFunction('onEmit', options.onEmit);
  if (options.inspect !== undefined) checkFunction('inspect', options.inspect);
  return checkSubtreeOptions(options);
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
