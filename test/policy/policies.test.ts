import { describe, expect, it } from 'vitest';
import { checkPolicies, type PoliciesOptions } from '../../src/policy/policies.ts';
import { presets } from '../../src/policy/presets.ts';
import type { ToolOptions } from '../../src/policy/toolOptions.ts';

describe('policies', () => {
  it('[R-9] are those of the code where nothing is configured', () => {
    const policies = checkPolicies();
    expect(policies.policyOf('kb', { queueLength: 5 }, 'mcp')).toEqual({ ...presets.mcp, queueLength: 5 });
    expect(policies.effectOf('kb', 'readOnly')).toBe('readOnly');
    expect(policies.toolsOf('kb', { query: { idleMs: 5 } }).get('query')).toEqual({ idleMs: 5 });
    expect(policies.unused([])).toEqual([]);
  });

  it('[R-9] take a figure from what is configured for the integration, then the code, then the preset', () => {
    const policies = checkPolicies({
      presets: { mcp: { queueLength: 1, maxInFlight: 1, maxAbandoned: 1 } },
      integrations: { kb: { queueLength: 3 } },
    });
    const policy = policies.policyOf('kb', { queueLength: 2, maxInFlight: 2 }, 'mcp');
    expect(policy).toMatchObject({ queueLength: 3, maxInFlight: 2, maxAbandoned: 1 });
    expect(policies.policyOf('other', { queueLength: 2 }, 'mcp')).toMatchObject({ queueLength: 2, maxInFlight: 1 });
  });

  it('[R-9] let the code extend a preset of one’s own', () => {
    const policies = checkPolicies({ presets: { slow: { queueLength: 9 } } });
    expect(policies.policyOf('kb', { extends: 'slow' }, 'mcp').queueLength).toBe(9);
    expect(() => policies.policyOf('kb', { extends: 'slwo' }, 'mcp')).toThrow('did you mean slow?');
  });

  it('[R-9] leave the code’s policy aside where the configuration names the preset', () => {
    const policies = checkPolicies({
      presets: { slow: {} },
      integrations: { kb: { extends: 'slow', maxInFlight: 4 } },
    });
    expect(policies.policyOf('kb', { queueLength: 2 }, 'mcp')).toEqual({ ...presets.sdk, maxInFlight: 4 });
  });

  it('[R-9] are found under the integration’s name, not the one that errors name', () => {
    const policies = checkPolicies({ integrations: { 'hook:audit': { queueLength: 3 } } });
    expect(policies.policyOf('audit', {}, 'hook').queueLength).toBe(0);
    expect(policies.policyOf('audit', {}, 'hook', 'hook:audit').queueLength).toBe(3);
  });

  it('[R-12] take the effect that is configured', () => {
    const policies = checkPolicies({ integrations: { kb: { effect: 'mutating' }, other: {} } });
    expect(policies.effectOf('kb', 'readOnly')).toBe('mutating');
    expect(policies.effectOf('other', 'readOnly')).toBe('readOnly');
  });

  it('[R-9] lay what is configured for a tool over what the code says of it, setting by setting', () => {
    const policies = checkPolicies({
      integrations: { kb: { tools: { query: { idleMs: 1, effect: undefined }, put: { effect: 'idempotent' } } } },
    });
    const tools = policies.toolsOf('kb', {
      query: { idleMs: 2, attemptMs: 3, effect: 'readOnly' },
      list: { idleMs: 4 },
    });
    expect(tools.get('query')).toEqual({ idleMs: 1, attemptMs: 3, effect: 'readOnly' });
    expect([tools.get('put'), tools.get('list')]).toEqual([{ effect: 'idempotent' }, { idleMs: 4 }]);
    expect(tools.size).toBe(3);
  });

  it('[R-9] have a tool’s limit on attempts take the place of a long run that the code declares', () => {
    const declared = { export: { longRunningMs: 3_600_000, effect: 'readOnly' } } as const;
    const of = (tools: Readonly<Record<string, ToolOptions>>) =>
      checkPolicies({ integrations: { kb: { tools } } })
        .toolsOf('kb', declared)
        .get('export');
    expect(of({ export: { attemptMs: 10 } })).toEqual({ attemptMs: 10, effect: 'readOnly' });
    expect(of({ export: { idleMs: 10 } })).toEqual({ idleMs: 10, longRunningMs: 3_600_000, effect: 'readOnly' });
    expect(of({ export: { attemptMs: 10, longRunningMs: 20 } })).toEqual({
      attemptMs: 10,
      longRunningMs: 20,
      effect: 'readOnly',
    });
  });

  it('tell a limit that is configured for an integration outright, in either form', () => {
    const policies = checkPolicies({
      presets: { quick: { idleMs: 1 } },
      integrations: { a: { idleMs: 2 }, b: { limits: { idleMs: 3 } }, c: { extends: 'quick' } },
    });
    expect(['a', 'b', 'c', 'd'].map((name) => policies.limitOf(name, 'idleMs'))).toEqual([2, 3, undefined, undefined]);
  });

  it('name what is configured for nobody, and who may be meant', () => {
    const policies = checkPolicies({ integrations: { serach: {}, mail: {}, zzzzzz: {} } });
    expect(policies.unused(['search', 'mail'])).toEqual([
      { integration: 'serach', nearest: 'search' },
      { integration: 'zzzzzz', nearest: undefined },
    ]);
  });

  it('[P-1] tell what becomes of silent calls of a server that answers, and refuse it of what is none', () => {
    const policies = checkPolicies({ integrations: { kb: { whenAlive: 'wait' } } });
    expect(['kb', 'other'].map((name) => policies.whenAliveOf(name))).toEqual(['wait', undefined]);
    expect(() => policies.refuseAbout('kb', 'a function', ['whenAlive'])).toThrow(
      'Expected `policies.integrations.kb.whenAlive` to be left out: kb is a function, which has none',
    );
    const wrong = { integrations: { kb: { whenAlive: 'never' as 'end' } } };
    expect(() => checkPolicies(wrong)).toThrow('`policies.integrations.kb.whenAlive`');
  });

  it('refuse effect and tools of what has none', () => {
    const policies = checkPolicies({ integrations: { coder: { tools: {} }, kb: { effect: 'readOnly' } } });
    expect(() => policies.refuseAbout('coder', 'an agent', ['tools'])).toThrow(
      'Expected `policies.integrations.coder.tools` to be left out: coder is an agent, which has none',
    );
    expect(() => policies.refuseAbout('kb', 'Codex', ['tools'])).not.toThrow();
    expect(() => policies.refuseAbout('other', 'Codex', ['tools'])).not.toThrow();
  });

  it.each([
    [{ preset: {} }, 'did you mean presets?'],
    [{ integrations: { kb: { attemptMs: 0 } } }, '`policies.integrations.kb.attemptMs`'],
    [{ integrations: { kb: { atemptMs: 5 } } }, 'did you mean attemptMs?'],
    [
      { integrations: { kb: { extends: 'mpc' } } },
      '`policies.integrations.kb.extends` to be the name of a preset, got "mpc"; did you mean mcp?',
    ],
    [{ integrations: { kb: { effect: 'none' } } }, '`policies.integrations.kb.effect`'],
    [{ integrations: { kb: { tools: { query: { idleMs: 0 } } } } }, '`policies.integrations.kb.tools.query.idleMs`'],
    [{ integrations: { '': {} } }, '`policies.integrations[""]`'],
    [{ presets: { a: { extends: 'a' } } }, '`policies.presets.a.extends`'],
  ])('are refused before anything is declared: %j', (options, message) => {
    const check = (): unknown => checkPolicies(options as PoliciesOptions);
    expect(check).toThrow(message);
    expect(check).toThrow(RangeError);
  });

  it.each([null, 5, { integrations: 5 }, { integrations: { kb: null } }, { integrations: { kb: { tools: 5 } } }])(
    'are refused for their type: %j',
    (options) => {
      expect(() => checkPolicies(options as PoliciesOptions)).toThrow(TypeError);
    },
  );
});
