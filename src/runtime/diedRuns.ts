import { hostname } from 'node:os';
import type { ProcessWorld } from '../actors/process/processIdentity.ts';
import { formatSeconds } from '../policy/text/duration.ts';
import type { Effect } from '../policy/effects.ts';
import type { FactOf } from '../policy/facts/facts.ts';
import { isRetryable } from '../policy/failures/repetition.ts';
import type { Store } from '../store/store.ts';
import type { OpenCall, RuntimeRow } from '../store/runtimes.ts';
import type { Runtime } from './runtime.ts';

const ofRun = 'unwedge run ';

/** Gives the name of the runtime of an `unwedge run`. */
export const nameOfRun = (integration: string): string => `${ofRun}${integration}`;

/** The integration of a run by what its runtime calls itself; undefined for other runtimes. */
export const integrationOfRun = (runtime: string): string | undefined =>
  runtime.startsWith(ofRun) ? runtime.slice(ofRun.length) : undefined;

/**
 * Takes the runtimes off the store whose process is gone. Of the calls that died with one nobody else is left to tell: they get their final record
 * here, in the same commit, so that of several which look one alone does. Never rejects.
 */
export async function takeOffDied(
  { clock, bus, statistics, store }: Pick<Runtime, 'clock' | 'bus' | 'statistics' | 'store'>,
  world: ProcessWorld,
): Promise<void> {
  const opened = store();
  const factsOf = (run: RuntimeRow) =>
    [...(isShared(opened) ? [diedFact(run)] : []), ...diedFacts(run)].map((fact) => bus.masked(fact));
  const died = (await opened?.runtimes.removeDead(world, clock.wallNow(), factsOf)) ?? [];
  for (const fact of died.flatMap(factsOf)) {
    if (fact.type === 'call.failed') statistics.of(fact.integration).failed(fact.failure.kind);
    bus.tell(fact, true);
  }
}

/** True where gateways of other machines may use it: of a file each start says what is left of those before. */
export const isShared = (store: Store | undefined): boolean => store?.kind === 'postgres';

const diedFact = ({ name, pid, host = hostname() }: RuntimeRow): FactOf<'gateway.died'> => ({
  type: 'gateway.died',
  gateway: name,
  pid,
  host,
});

/** The final records of the calls of a runtime that died: of the command of a run, and of what was on record as under way. Others belong to sessions. */
export function diedFacts(run: RuntimeRow): readonly FactOf<'call.failed'>[] {
  const { id, name, startedAt, calls = [] } = run;
  const integration = integrationOfRun(name);
  const own = integration === undefined ? [] : [lostFact(run, { integration, call: id, startedAt }, 'unwedge run')];
  return [...own, ...calls.map((call) => lostFact(run, call, name))];
}

interface LostCall extends Omit<OpenCall, 'tool'> {
  readonly tool?: string | undefined;
  readonly effect?: Effect | undefined;
}

function lostFact({ pid, renewedAt }: RuntimeRow, lost: LostCall, who: string): FactOf<'call.failed'> {
  const { integration, call, tool, effect, startedAt } = lost;
  const knownMs = Math.max(0, renewedAt - startedAt);
  const what = tool === undefined ? '' : ` while ${tool} was under way`;
  const message =
    `${who} (pid ${pid}) ended without a word${what}: it was killed, or its machine went down; ` +
    `started at ${new Date(startedAt).toISOString()}, last seen ${formatSeconds(knownMs)} later`;
  const facts = { kind: 'crash', message, outcome: 'unknown' } as const;
  const retryable = tool !== undefined && isRetryable(facts, effect, 'refused');
  const failure = { ...facts, integration, attempts: 1, retryable, ...(effect !== undefined && { effect }) };
  return { type: 'call.failed', integration, call, tool, failure, retryCount: 0, elapsedMs: knownMs };
}
