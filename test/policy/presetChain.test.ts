import { describe, expect, it } from 'vitest';
import { checkPolicies } from '../../src/policy/policies.ts';
import type { PolicyInput } from '../../src/policy/policyInput.ts';
import { defaultPolicy, presets } from '../../src/policy/presets.ts';

const resolvePresets = (given: Readonly<Record<string, PolicyInput>>) => checkPolicies({ presets: given }).presets;
const resolve = (given: unknown) => () => resolvePresets(given as Record<string, PolicyInput>);

describe('presets of one’s own', () => {
  it('[R-9] are the built-in ones where none is given', () => {
    expect(resolvePresets({})).toEqual(presets);
  });

  it('[R-9] change the built-in one of their name, and leave it what they do not say', () => {
    const { mcp, sdk } = resolvePresets({ mcp: { idleMs: 5 } });
    expect(mcp).toEqual({ ...presets.mcp, limits: { ...presets.mcp.limits, idleMs: 5 } });
    expect(sdk).toBe(presets.sdk);
    expect(presets.mcp.limits.idleMs).toBe(30_000);
  });

  it('[R-9] may say outright that they extend the built-in one of their name', () => {
    expect(resolvePresets({ mcp: { extends: 'mcp', queueLength: 5 } }).mcp).toEqual({
      ...presets.mcp,
      queueLength: 5,
    });
  });

  it('[R-9] start from the defaults of R-1 where they extend nothing', () => {
    expect(resolvePresets({ slow: { queueLength: 5 } })['slow']).toEqual({
      ...defaultPolicy,
      queueLength: 5,
    });
  });

  it('[R-9] extend each other whatever their order, each adding what it says', () => {
    const { a, mcp } = resolvePresets({
      a: { extends: 'b', queueLength: 1 },
      b: { extends: 'mcp', maxInFlight: 7, queueLength: 2 },
      mcp: { maxAbandoned: 3, maxInFlight: 8 },
    });
    expect(a).toEqual({ ...presets.mcp, queueLength: 1, maxInFlight: 7, maxAbandoned: 3 });
    expect(mcp.maxInFlight).toBe(8);
  });

  it('[R-9] are frozen throughout', () => {
    const all = resolvePresets({ own: { limits: { idleMs: 5 } } });
    expect([all, all['own'], all['own']?.limits, all['own']?.retry].every((each) => Object.isFrozen(each))).toBe(true);
  });

  it.each([
    [{ a: { extends: 'b' }, b: { extends: 'a' } }, 'got a → b → a'],
    [{ a: { extends: 'a' } }, '`policies.presets.a.extends` not to lead back to itself, got a → a'],
    [{ mcp: { extends: 'sdk' }, sdk: { extends: 'mcp' } }, 'got mcp → sdk → mcp'],
    [
      { x: { extends: 'a' }, a: { extends: 'b' }, b: { extends: 'a' } },
      '`policies.presets.b.extends` not to lead back to itself, got a → b → a',
    ],
    [
      { slow: { extends: 'mpc' } },
      '`policies.presets.slow.extends` to be the name of a preset, got "mpc"; did you mean mcp?',
    ],
    [{ slow: { extends: 'verySloww' }, verySlow: {} }, 'did you mean verySlow?'],
    [{ slow: { extends: 'toString' } }, 'known: mcp, sdk'],
    [{ slow: { attemptMs: 0 } }, '`policies.presets.slow.attemptMs`'],
    [{ slow: { tools: {} } }, '`policies.presets.slow.tools`'],
    [{ '': {} }, '`policies.presets[""]`; choose another name'],
    [JSON.parse('{ "__proto__": {} }') as object, '`policies.presets.__proto__`; choose another name'],
  ])('[R-9] refuse %j', (given, message) => {
    expect(resolve(given)).toThrow(message);
    expect(resolve(given)).toThrow(RangeError);
  });

  it.each([null, 5, [], { slow: null }, { slow: 5 }, { slow: { extends: 5 } }])(
    '[R-9] refuse %j for its type',
    (given) => {
      expect(resolve(given)).toThrow(TypeError);
    },
  );

  it('[R-9] may be called like a property of every object', () => {
    const all = resolvePresets({ constructor: { queueLength: 5 }, a: { extends: 'constructor' } });
    expect(all['a']?.queueLength).toBe(5);
    expect(Object.getPrototypeOf(all)).toBe(Object.prototype);
  });
});
