import { expect, it } from 'vitest';
import type { Incident, IncidentEvent } from '../../../incident/incident.ts';
import { plansOf } from '../../../incident/replay/plan.ts';
import { sessionPlanOf } from '../../../incident/replay/sessionPlan.ts';
import { resolvePolicy } from '../../../src/policy/presetChain.ts';
import type { AttemptRow } from '../../../src/policy/records/flight.ts';

const origin = 1_767_225_600_000;

function incidentOf(rows: readonly AttemptRow[], events: readonly IncidentEvent[]): Incident {
  const kept = { of: 'integration', policy: resolvePolicy('kb', {}), traits: {} } as const;
  const record = { at: origin, because: 'asked', rows, limits: [], retries: [], missed: 0 } as const;
  const watchdog = { toolCallMs: 1000, turnMs: 1000, releaseMs: 1000, recoveryMs: 5000 };
  return {
    ...{ format: 'unwedge-incident', version: 1, subject: { kind: 'session', id: 'alice' }, madeAt: origin },
    ...{ from: origin, until: origin, missing: [], integrations: [{ name: 'kb', kept, records: [record] }] },
    ...{ sessions: [{ name: 'alice', watchdog }], events },
  };
}

const called = (call: number, sessionCall: string): AttemptRow => {
  const at = origin + call * 10;
  const times = { arrivedAt: at, startedAt: at, endedAt: at + 5 };
  return { what: 'attempt', call, ...times, session: 'alice', sessionCall, attempt: 1, end: 'answered' };
};

const told = (type: string, turn: number, at: number, more: object = {}): IncidentEvent => ({
  ...{ at: origin + at, category: 'session', type },
  metadata: { session: 'alice', turn, kind: 'user', ...more },
});

it('[O-16] a session of many turns is planned call by call: each once, with the turn that its id tells', () => {
  const numbers = Array.from({ length: 20_000 }, (_, index) => index + 1);
  // A plan that looked through all turns for each call of each turn would take hours.
  const incident = incidentOf(
    numbers.map((turn) => called(turn, `alice-${turn}-1`)),
    numbers.flatMap((turn) => [
      told('turn_started', turn, turn * 10),
      told('turn_ended', turn, turn * 10 + 6, { ok: true }),
    ]),
  );
  const turns = sessionPlanOf(incident, plansOf(incident, origin), origin)?.turns ?? [];
  expect(turns).toHaveLength(numbers.length);
  expect(
    turns.find(({ number, calls, ok }) => calls.length !== 1 || calls[0]?.number !== number || !ok),
  ).toBeUndefined();
});

it('[O-16] calls of a turn are planned in the order in which they came, whatever they were of', () => {
  const incident = incidentOf([called(2, 'alice-1-2'), called(1, 'alice-1-1')], [told('turn_started', 1, 0)]);
  const earlier = incidentOf([called(0.5, 'alice-1-0')], []).integrations.map((each) => ({ ...each, name: 'earlier' }));
  const mixed = { ...incident, integrations: [...incident.integrations, ...earlier] };
  const [turn] = sessionPlanOf(mixed, plansOf(mixed, origin), origin)?.turns ?? [];
  expect(turn?.calls.map(({ integration }) => integration)).toEqual(['earlier', 'kb', 'kb']);
});

it('[O-16] the watchdog is told from an order by its rule, and the first event of a kind counts', () => {
  const incident = incidentOf(
    [],
    [
      told('turn_started', 1, 0),
      told('watchdog_fired', 1, 20, { rule: 'tool_call' }),
      told('watchdog_fired', 1, 30, { rule: 'turn' }),
      told('watchdog_fired', 1, 40, { rule: 'turn' }),
      told('turn_ended', 1, 50, { ok: false, error: 'ended' }),
    ],
  );
  const [turn] = sessionPlanOf(incident, plansOf(incident, origin), origin)?.turns ?? [];
  expect(turn).toMatchObject({ stalledAt: 30, endedAt: 50, ok: false, error: 'ended', isLeft: false });
});
