import { describe, expect, it } from 'vitest';
import { checkIncident } from '../../incident/checkIncident.ts';
import { incidentFormat, incidentVersion } from '../../incident/incident.ts';

const at = 1_767_225_600_000;
const failure = { kind: 'transient', message: 'HTTP 503', outcome: 'failed' };
const attempt = {
  what: 'attempt',
  call: 1,
  arrivedAt: at,
  attempt: 1,
  startedAt: at,
  endedAt: at + 1,
  end: 'answered',
};
const turn = { at, category: 'session', type: 'turn_started', metadata: { session: 'alice', turn: 1, kind: 'user' } };
const watchdog = { toolCallMs: 1000, turnMs: 1000, releaseMs: 1000, recoveryMs: 5000 };

function incident() {
  return {
    ...{ format: incidentFormat, version: incidentVersion, subject: { kind: 'session', id: 'alice' } },
    ...{ madeAt: at, from: at, until: at + 1000, missing: ['nothing'], events: [turn] },
    sessions: [{ name: 'alice', watchdog }],
    integrations: [
      {
        name: 'kb',
        kept: { of: 'integration', policy: {}, traits: { asks: 'end' } },
        records: [
          {
            at,
            because: 'asked',
            rows: [attempt],
            limits: [{ overallMs: 1000 }],
            retries: [{ maxAttempts: 3 }],
            missed: 0,
          },
        ],
      },
    ],
  };
}

/** The incident with another value in one place of it. */
function withValue(path: string, value: unknown): unknown {
  const made: unknown = structuredClone(incident());
  const keys = path.split(/[.[\]]+/).filter((key) => key !== '');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((each, key) => Reflect.get(each as object, key) as unknown, made);
  Reflect.set(parent as object, last, value);
  return made;
}

const row = 'integrations[0].records[0].rows[0]';

describe('an incident from anybody', () => {
  it('[O-16] is taken with what is known of it, and nothing else', () => {
    const taken = checkIncident({ ...incident(), more: 1 });
    expect(taken).toMatchObject({
      subject: { kind: 'session', id: 'alice' },
      events: [turn],
      sessions: [{ watchdog }],
    });
    expect(taken).not.toHaveProperty('more');
  });

  it.each<[string, unknown, string]>([
    ['madeAt', 'now', 'madeAt: expected a time or number, got "now"'],
    ['missing[0]', 7, 'missing[0]: expected a text, got 7'],
    ['subject.kind', 'gateway', 'subject.kind: expected one of session, call, integration, got "gateway"'],
    ['integrations[0].kept.traits.asks', 'no', 'integrations[0].kept.traits.asks: expected one of end, wait, got "no"'],
    ['integrations[0].kept.policy', 7, 'integrations[0].kept.policy: expected an object, got 7'],
    ['integrations[0].kept.policy.maxInFlight', -1, '`integrations[0].kept.policy.maxInFlight`'],
    ['integrations[0].records[0].limits[0].overallMs', -1, '`integrations[0].records[0].limits[0].overallMs`'],
    ['integrations[0].records[0].retries[0].maxAttempts', -1, '`integrations[0].records[0].retries[0].maxAttempts`'],
    [row, { ...attempt, what: 'else' }, `${row}.what: expected one of attempt, end, work, input, pending, got "else"`],
    [row, { ...attempt, end: 'threw' }, `${row}: a failed attempt has no failure`],
    [row, { ...attempt, endedAt: at - 1 }, `${row}: it ended before it began`],
    [row, { ...attempt, limits: 1 }, `${row}.limits: there is no place 1`],
    [row, { ...attempt, scope: '' }, `${row}.scope: expected a text that is not empty, got ""`],
    [row, { ...attempt, failure: { ...failure, kind: 'odd' } }, `${row}.failure.kind: expected one of`],
    [row, { what: 'input', input: 'odd', at }, `${row}.input: expected one of`],
    [row, { what: 'input', input: 'isolated', at }, `${row}.hold: expected an integer of at least 1, got undefined`],
    ['sessions[0].watchdog.turnMs', 0, 'sessions[0].watchdog.turnMs: expected a duration above 0, got 0'],
    ['sessions[0].watchdog.recoveryMs', 1000, 'sessions[0].watchdog: Expected `watchdog.recoveryMs`'],
    ['events[0].metadata.turn', { toString: 1 }, 'events[0].metadata.turn: expected an integer of at least 0'],
    ['events[0].metadata.kind', '', 'events[0].metadata.kind: expected a text that is not empty, got ""'],
  ])('[O-16] is refused with the place of what is wrong: %s', (path, value, told) => {
    expect(checkIncident(withValue(path, value))).toContain(told);
  });

  it('[O-16] is refused where its parts lie too deep', () => {
    const deep: unknown = JSON.parse(`${'['.repeat(50_000)}${']'.repeat(50_000)}`);
    expect(checkIncident(withValue('events[0].metadata.deep', deep))).toBe('its parts lie more than 200 levels deep');
  });
});
