import { type BreakerRule, breakerRuleNote, readBreakerRule } from '../policy/breakerRule.ts';
import type { EventRow } from '../store/events.ts';
import type { StoreReader } from '../store/storeReader.ts';
import { sanitize } from './sanitize.ts';
import { ago } from './timeText.ts';

/** Last opening of a circuit of an integration, and its reason. */
export interface LastOpening {
  /** Wall time in ms since the epoch. */
  readonly at: number;
  /** Name of the tool whose circuit it is. */
  readonly tool?: string | undefined;
  readonly kind?: string | undefined;
  readonly rule?: BreakerRule | undefined;
  readonly error?: string | undefined;
}

/** Newest events of circuits that are looked at: closings are among them. */
const mostLooked = 2000;

/** The last opening of each integration since then, by its name as it is on record. @param since - wall time in ms since the epoch. */
export async function lastOpenings(reader: StoreReader, since: number): Promise<ReadonlyMap<string, LastOpening>> {
  const rows = await reader.events({ category: 'breaker', since, limit: mostLooked });
  return new Map(rows.flatMap((row) => openingIn(row) ?? []));
}

/** Writes one line about it. */
export function openingLine(integration: string, { at, tool, kind, rule, error }: LastOpening, now: number): string {
  const of = tool === undefined ? 'its circuit' : `the circuit of its tool ${sanitize(tool)}`;
  const why = [kind, error].filter((each) => each !== undefined).map(sanitize);
  const cause = why.length === 0 || kind === 'isolated' ? '' : `: ${why.join(': ')}`;
  return `${sanitize(integration)}: ${of} last opened ${ago(at, now)}${breakerRuleNote(rule)}${cause}`;
}

function openingIn({ type, at, metadata }: EventRow): readonly [readonly [string, LastOpening]] | undefined {
  const { integration, tool, kind, error } = metadata;
  if (type !== 'opened' || typeof integration !== 'string') return undefined;
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const rule = readBreakerRule(metadata['rule']);
  return [[integration, { at, tool: text(tool), kind: text(kind), rule, error: text(error) }]];
}
