import type { Facts } from '../policy/facts.ts';
import type { OrderNote, OrderResult } from '../policy/operatorOrder.ts';
import { checkName } from '../policy/options.ts';
import { knownNames } from './knownNames.ts';
import type { RegisteredPath } from './runtime.ts';

type OrderedPath = Pick<RegisteredPath, 'name' | 'isolate' | 'reset' | 'probe'>;

interface Orders {
  readonly paths: ReadonlyMap<string, OrderedPath>;
  readonly facts: Pick<Facts, 'tell'>;
}

/**
 * Holds the circuit of an integration open, until it is reset. Told before it is done, as {@link resetNamed}.
 * @throws TypeError for what is no name, RangeError that lists the known names when there is none of this one.
 */
export function isolateNamed(given: string, note: OrderNote, { paths, facts }: Orders): void {
  const path = pathOf(given, paths);
  facts.tell({ type: 'operator.isolated', integration: path.name, ...note });
  path.isolate();
}

/** Closes the circuit of an integration, whoever holds it open. @throws as {@link isolateNamed} */
export function resetNamed(given: string, note: OrderNote, { paths, facts }: Orders): void {
  const path = pathOf(given, paths);
  facts.tell({ type: 'operator.reset', integration: path.name, ...note });
  path.reset();
}

/** Has an open circuit, or a server that asked not to be called, probed now. @throws as {@link isolateNamed} */
export function probeNamed(given: string, note: OrderNote, { paths }: Pick<Orders, 'paths'>): OrderResult {
  return pathOf(given, paths).probe(note);
}

function pathOf(given: string, paths: Orders['paths']): OrderedPath {
  const found = paths.get(checkName('name', given)) ?? paths.get(`hook:${given}`);
  if (found !== undefined) return found;
  const names = [...paths.keys()].map((name) => name.replace(/^hook:/, ''));
  throw new RangeError(`No integration \`${given}\`; known: ${knownNames(names)}`);
}
