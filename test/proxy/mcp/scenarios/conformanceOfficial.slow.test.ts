import { describe, expect, it } from 'vitest';
import { clientScenarios, compareClients, fire, ownWays, unexplained } from '../../../conformance/index.ts';

const wayOf = (name: string) => ownWays.filter((way) => way.name === name);
const minutes = { timeout: 300_000 };
/** The whole is `npm run conformance` and `npm run conformance -- --fire`. */
const someClients = clientScenarios.filter((name) =>
  ['initialize', 'tools_call', 'sse-retry', 'auth/metadata-var3', 'auth/scope-retry-limit'].includes(name),
);

describe('the official conformance suite', () => {
  it.each(['listen', 'url'])(
    '[P-6] [P-4] [P-5] gives a server behind us the verdicts that it has itself, and none worse while it is harmed: %s',
    minutes,
    async (name) => {
      const [report] = await fire({ ways: wayOf(name), seed: 1, rounds: 5 });
      expect(report?.without).toEqual({});
      expect(report === undefined ? [] : unexplained(report)).toEqual([]);
      expect(report?.cells.filter(({ harm }) => harm !== undefined).length).toBeGreaterThan(2);
    },
  );

  it.each(someClients)(
    '[P-6] [P-4] gives an official client the verdicts through us that it has itself: %s',
    minutes,
    async (scenario) => {
      const [report] = await compareClients({ scenarios: [scenario] });
      expect(Object.values(report?.direct ?? {})).toContain('SUCCESS');
      expect(report?.worse).toEqual({});
    },
  );
});
