import { circuitOf } from '../calls/integration.ts';
import type { RegisteredPath } from '../runtime/runtime.ts';

/** Extent to which an integration refuses calls, which then cannot fail. */
export interface Refusing {
  /** Calls that were refused since its start. */
  readonly refused: number;
  /** Why it refuses, in words; absent while its circuit and those of its tools are closed. */
  readonly because?: Because | undefined;
}

interface Because {
  /** State of now, such as `its circuit is open`. */
  readonly now: string;
  /** Event that ends it, such as `its circuit has closed`. */
  readonly until: string;
  /** True while an operator holds the circuit open. @defaultValue false */
  readonly isHeld?: boolean | undefined;
}

/** Tells how far it refuses calls now; its own circuit is told before those of its tools. */
export function refusing({ link, openTools, stats }: Pick<RegisteredPath, 'link' | 'openTools' | 'stats'>): Refusing {
  const { refused } = stats;
  const circuit = circuitOf(link);
  if (circuit === 'crashed') return { refused, because: { now: 'it is down', until: 'it is back' } };
  if (circuit !== 'closed') {
    return {
      refused,
      because: {
        now: 'its circuit is open',
        until: 'its circuit has closed',
        ...(circuit === 'isolated' && { isHeld: true }),
      },
    };
  }
  const [first, ...others] = openTools;
  if (first === undefined) return { refused };
  const one = `the circuit of its tool ${first.tool}`;
  const all = 'circuits of its tools';
  return others.length > 0
    ? { refused, because: { now: `${all} are open`, until: `the ${all} have closed` } }
    : { refused, because: { now: `${one} is open`, until: `${one} has closed` } };
}
