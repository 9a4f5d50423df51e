import { readStatusAnswer } from '../src/control/face.ts';
import { nearest } from '../src/policy/text/face.ts';
import { askRuntimes } from '../operator/askRuntimes.ts';
import { runtimesOf } from '../operator/unlisted.ts';
import type { ShownName } from '../src/redaction/face.ts';
import type { StoreReader } from '../reader/storeReader.ts';
import type { Io } from './io.ts';
import { quoted, sanitize } from './sanitize.ts';

/** The names, as they are shown, of the integrations that are on record, were called, or that a live runtime has. */
export async function knownIntegrations(
  reader: StoreReader,
  io: Pick<Io, 'now'>,
  shown: ShownName,
): Promise<ReadonlySet<string>> {
  const now = io.now();
  const { integrations } = await reader.status(now);
  const called = await reader.statistics(0, 'whole');
  const asked = await askRuntimes(await runtimesOf(reader, now), io, 'status', readStatusAnswer);
  const live = asked.flatMap(({ answer }) => answer?.integrations ?? []);
  return new Set([...integrations, ...called, ...live].map(({ integration }) => shown(integration)));
}

/** More names than these are told by their number. */
const mostNames = 10;

/** That there is no integration of this name, with the nearest of those that there are, or else with all. */
export function noSuchIntegration(name: string, known: ReadonlySet<string>): string {
  const is = `There is no integration ${quoted(name)}`;
  const near = nearest(name, [...known]);
  if (near !== undefined) return `${is}; did you mean ${quoted(near)}?`;
  if (known.size === 0) return `${is}: none is known to this database.`;
  const names = [...known].sort().map(sanitize);
  const more = names.length - mostNames;
  return `${is}; known: ${names.slice(0, mostNames).join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
}
