import { causeText } from '../policy/breakerCause.ts';
import type { Facts } from '../policy/facts.ts';
import { checkName, checkText } from '../policy/options.ts';
import { knownNames } from './knownNames.ts';
import type { RegisteredPath } from './runtime.ts';

/** Who gives an order, and why; each is one line of at most 300 characters. */
export interface OrderNote {
  readonly by?: string | undefined;
  readonly why?: string | undefined;
}

/** The note in the params of an order. @throws TypeError for one that is no text. */
export function noteIn(params: unknown): OrderNote {
  const { by, why } = (params ?? {}) as Partial<Record<keyof OrderNote, unknown>>;
  return {
    ...(by !== undefined && { by: causeText(checkText('by', by)) }),
    ...(why !== undefined && { why: causeText(checkText('why', why)) }),
  };
}

interface Orders {
  readonly paths: ReadonlyMap<string, Pick<RegisteredPath, 'name' | 'link' | 'reset'>>;
  readonly facts: Pick<Facts, 'tell'>;
}

/**
 * Holds the circuit of an integration open, until it is reset. Told before it is done, as {@link resetNamed}.
 * @throws TypeError for what is no name, RangeError that lists the known names when there is none of this one.
 */
export function isolateNamed(given: string, note: OrderNote, { paths, facts }: Orders): void {
  const { name, link } = pathOf(given, paths);
  facts.tell({ type: 'operator.isolated', integration: name, ...note });
  link.isolate();
}

/** Closes the circuit of an integration, whoever holds it open. @throws as {@link isolateNamed} */
export function resetNamed(given: string, note: OrderNote, { paths, facts }: Orders): void {
  const path = pathOf(given, paths);
  facts.tell({ type: 'operator.reset', integration: path.name, ...note });
  path.reset();
}

function pathOf(given: string, paths: Orders['paths']): Pick<RegisteredPath, 'name' | 'link' | 'reset'> {
  const found = paths.get(checkName('name', given)) ?? paths.get(`hook:${given}`);
  if (found !== undefined) return found;
  const names = [...paths.keys()].map((name) => name.replace(/^hook:/, ''));
  throw new RangeError(`No integration \`${given}\`; known: ${knownNames(names)}`);
}
