import { describe, expect, it } from 'vitest';
import { settingsOfTool } from '../../src/calls/callOptions.ts';
import { createGateway, presets } from '../../src/index.ts';

const work = (): Promise<string> => Promise.resolve('done');

describe('a limit that could never be reached', () => {
  it.each([
    [{ attemptMs: '2m', overallMs: '1m' }, 'attemptMs` to be at most `overallMs` (1m)'],
    [{ limits: { attemptMs: '2m', overallMs: '1m' } }, 'limits.attemptMs` to be at most `overallMs` (1m)'],
    [{ attemptMs: '2m', limits: { overallMs: '1m' } }, 'attemptMs` to be at most `overallMs` (1m)'],
  ] as const)('[R-17] is refused in a policy, a preset and a configuration: %j', (policy, told) => {
    expect(() => createGateway().integration('x', { policy }, work)).toThrow(told);
    expect(() => createGateway({ policies: { presets: { own: policy } } })).toThrow(told);
    expect(() => createGateway({ policies: { integrations: { x: policy } } })).toThrow(told);
  });

  it.each([[{ attemptMs: '2h', longRunningMs: '1h' }, 'attemptMs` to be at most `longRunningMs` (1h)']] as const)(
    '[R-17] is refused of a tool: %j',
    (tool, told) => {
      expect(() => createGateway().mcpServer('x', { command: 'x', tools: { find: tool } })).toThrow(told);
    },
  );

  it('[R-17] is refused of a call', async () => {
    const gateway = createGateway();
    const x = gateway.integration('x', {}, work);
    await gateway.start();
    const call = async (): Promise<unknown> => x.call('a', { attemptMs: 60_000, overallMs: 1000 });
    await expect(call()).rejects.toThrow('attemptMs` to be at most `overallMs` (1s)');
    await gateway.stop();
  });

  it('[R-9] gives the whole call the time of an attempt, where only that is given', () => {
    const limits = { idleMs: 10, attemptMs: 20, overallMs: 30 };
    const tool = settingsOfTool(limits as never, { attemptMs: 100 } as never);
    expect(tool).toMatchObject({ attemptMs: 100, overallMs: 100 });
  });

  it('[R-17] is none where a limit is off, or the two are alike', () => {
    const policies = [
      { attemptMs: Number.POSITIVE_INFINITY, overallMs: '1m' },
      { idleMs: '1m', attemptMs: '1m', overallMs: '1m' },
      { overallMs: '1s' },
      { idleMs: '2m', attemptMs: '1m' },
    ] as const;
    for (const policy of policies) expect(() => createGateway().integration('x', { policy }, work)).not.toThrow();
  });

  it('[R-17] is none in a policy that was completed, which holds what it inherited: it can be given to another', () => {
    const overall = createGateway().integration('x', { policy: { overallMs: '1m' } }, work).policy;
    expect(overall.limits).toMatchObject({ attemptMs: 600_000, overallMs: 60_000 });
    const shorter = { limits: { ...presets.sdk.limits, overallMs: 1000 } };
    for (const policy of [...Object.values(presets), overall, { ...overall, queueLength: 5 }, shorter]) {
      expect(createGateway().integration('y', { policy }, work).policy.limits).toEqual(policy.limits);
      expect(() =>
        createGateway({ policies: { presets: { own: policy }, integrations: { y: policy } } }),
      ).not.toThrow();
    }
  });
});
