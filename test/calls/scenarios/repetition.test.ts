import { describe, expect, it } from 'vitest';
import type { Effect, RepeatAfter } from '../../../src/policy/effects.ts';
import type { PresetName } from '../../../src/policy/presets.ts';
import { fault, startIntegration } from '../../support/startIntegration.ts';

const errno = (code: string): Error => Object.assign(new Error(code), { code });
const status = (code: number, headers = {}): Error =>
  Object.assign(new Error(`HTTP ${code}`), { status: code, headers });
const refused = [status(429), status(503), status(529), errno('ECONNREFUSED'), errno('ENOTFOUND'), errno('EAI_AGAIN')];
const broken = [
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].map(errno),
  ...[500, 502, 504].map((code) => status(code)),
  ...[1006, 1012, 1013].map((code) => new Error(`gateway closed (${code}): service restart`)),
];
const lost = [fault('timeout'), fault('crash')];

/** How often a call is made whose first attempt fails so. */
async function attemptsAfter(error: Error, effect?: Effect, repeatAfter?: RepeatAfter): Promise<number> {
  let made = 0;
  const { integration, clock } = startIntegration({ retry: { repeatAfter } }, () => {
    made++;
    if (made === 1) throw error;
    return 'done';
  });
  const outcome = integration.call('pay', { effect });
  await clock.advance(600_000);
  await outcome;
  return made;
}

const everyEffect = ['readOnly', 'idempotent', 'mutating', undefined] as const;

describe('a call that failed after it was sent', () => {
  it.each([
    [undefined, 'lost', false],
    [undefined, 'broken', true],
    [undefined, 'refused', true],
    ['mutating', 'lost', false],
    ['mutating', 'broken', false],
    ['mutating', 'refused', true],
    ['readOnly', 'lost', true],
    ['idempotent', 'lost', true],
  ] as const)(
    '[G-13] [R-12] is called retryable only where repeating it does no harm (%s, %s: %s)',
    async (effect, how, expected) => {
      const error = { lost: fault('timeout'), broken: errno('ECONNRESET'), refused: status(503) }[how];
      const { integration, clock } = startIntegration({ retry: { maxAttempts: 1 } }, () => {
        throw error;
      });
      const outcome = integration.call('pay', { effect });
      await clock.settle();
      expect(await outcome).toMatchObject({ ok: false, failure: { retryable: expected } });
    },
  );

  it.each(everyEffect)('[R-12] is made again after a refusal, whatever it does (%s)', async (effect) => {
    for (const error of [...refused, errno('UND_ERR_CONNECT_TIMEOUT')]) {
      expect([error.message, await attemptsAfter(error, effect)]).toEqual([error.message, 2]);
    }
  });

  it.each([
    ['readOnly', 2],
    ['idempotent', 2],
    ['mutating', 1],
    [undefined, 2],
  ] as const)('[R-12] is made again after a broken connection unless it is mutating (%s: %i)', async (effect, made) => {
    for (const error of broken) {
      expect([error.message, await attemptsAfter(error, effect)]).toEqual([error.message, made]);
    }
  });

  it.each([
    ['readOnly', 2],
    ['idempotent', 2],
    ['mutating', 1],
    [undefined, 1],
  ] as const)('[R-12] is made again after a lost answer where that is harmless (%s: %i)', async (effect, made) => {
    for (const error of lost) {
      expect([error.message, await attemptsAfter(error, effect)]).toEqual([error.message, made]);
    }
  });

  it.each([
    ['refused', 2, 1, 1],
    ['broken', 2, 2, 1],
    ['lost', 2, 2, 2],
  ] as const)('[R-12] without a declared effect is repeated up to %s', async (repeatAfter, ...expected) => {
    const made = await Promise.all(
      [errno('ECONNREFUSED'), errno('ECONNRESET'), fault('crash')].map((error) =>
        attemptsAfter(error, undefined, repeatAfter),
      ),
    );
    expect(made).toEqual(expected);
  });

  it.each(['refused', 'broken', 'lost'] as const)(
    '[R-12] is made once when it is mutating, for all that the policy says (%s)',
    async (after) => {
      expect(await attemptsAfter(errno('ECONNRESET'), 'mutating', after)).toBe(1);
      expect(await attemptsAfter(fault('timeout'), 'mutating', after)).toBe(1);
    },
  );

  it('[R-12] [R-3] is not made again because the other side says so when its effect forbids it', async () => {
    const asked = status(500, { 'x-should-retry': 'true' });
    expect(await attemptsAfter(asked, 'mutating')).toBe(1);
    expect(await attemptsAfter(asked, undefined, 'refused')).toBe(1);
    expect(await attemptsAfter(fault('timeout', { shouldRetry: true }))).toBe(1);
    expect(await attemptsAfter(asked)).toBe(2);
  });
});

describe('a call that hangs', () => {
  it.each<[PresetName, number]>([
    ['mcp', 30_000],
    ['sdk', 120_000],
    ['subprocess', 180_000],
  ])('[R-12] [R-9] ends at its first limit under the preset %s, after one dispatch', async (preset, limitMs) => {
    const { integration, clock, seen } = startIntegration({ extends: preset });
    const outcome = integration.call('charge');
    await clock.advance(limitMs - 1);
    expect(integration.state).toBe('calling');
    await clock.advance(1);
    expect(await outcome).toMatchObject({ failure: { kind: 'timeout', outcome: 'unknown', attempts: 1 } });
    await clock.advance(600_000);
    expect(seen).toHaveLength(1);
  });
});
