import type { CallFact } from '../../src/policy/facts/callFacts.ts';
import type { Fact } from '../../src/policy/facts/facts.ts';
import type { CallRow } from './callRow.ts';
import type { World } from './world.ts';

/** Enters in the books what only the runtime can know; and judges what it says. */
export function hear(world: World, fact: Fact): void {
  const { judge, clock, chance } = world;
  if (fact.type === 'call.succeeded' || fact.type === 'call.failed' || fact.type === 'call.fell_back') {
    const row = rowOf(world, fact);
    if (row !== undefined) row.records++;
    else judge.violate('I-4', `${fact.label} has a final record after it was settled`);
  } else if (fact.type === 'call.retried') {
    const row = rowOf(world, fact);
    if (row !== undefined) row.retryAt = Math.max(row.retryAt, clock.now() + (fact.delayMs ?? 0));
  } else if (fact.type === 'call.abandoned') {
    world.integration(fact.integration)?.attempts.wroteOff(fact.label ?? '');
  } else if (fact.type === 'breaker.half_opened') {
    world.integration(fact.integration)?.halfOpened();
  } else if (fact.type === 'session.heartbeat_dropped' && fact.reason === 'drop_oldest') {
    world.sessions.find(({ id }) => id === fact.session)?.dropped();
  } else if (fact.type === 'child.quarantined') {
    world.quarantined.add(fact.child);
    clock.setTimeout(() => world.release(fact.child), chance.span(1, 60_000));
  } else if (fact.type === 'listener.failed') {
    judge.violate('I-4', `${fact.event} threw: ${fact.error} ${fact.stack ?? ''}`);
  }
}

/** Whether a fact is told in the middle of a change that the books cannot know of yet, so that they would judge a reaction wrongly. */
export function isEarly(fact: Fact): boolean {
  if (fact.type === 'integration.changed') return fact.to === 'calling' || fact.to === 'half-open';
  return fact.type.startsWith('child.') || fact.type === 'call.abandoned';
}

function rowOf(world: World, { integration, label }: CallFact): CallRow | undefined {
  return world.integration(integration)?.rows.get(label ?? '');
}
