import { circuitOf } from '../calls/integration.ts';
import type { RegisteredPath } from '../runtime/runtime.ts';

/**
 * What has to come about before all is clear with an integration, however quiet it is: calls that are refused cannot fail.
 * @returns undefined while its circuit and those of its tools are closed.
 */
export function clearsOnlyOnce({ link, openTools }: Pick<RegisteredPath, 'link' | 'openTools'>): string | undefined {
  const circuit = circuitOf(link);
  if (circuit === 'crashed') return 'it is back';
  if (circuit !== 'closed') return 'its circuit has closed';
  const [first, ...others] = openTools;
  if (first === undefined) return undefined;
  return others.length > 0
    ? 'the circuits of its tools have closed'
    : `the circuit of its tool ${first.tool} has closed`;
}
