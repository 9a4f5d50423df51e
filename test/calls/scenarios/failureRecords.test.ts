import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { aboutCommand } from '../../../src/protocol/agentCommand.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

const never = (): Promise<never> => new Promise(() => undefined);

/** The record of a call that hangs until a limit passes. */
async function recordOf(options: { readonly idleMs?: number; readonly overallMs?: number }, tool?: string) {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, alerts: false });
  onTestFinished(async () => {
    const stopped = gateway.stop();
    await clock.advance(60_000);
    await stopped;
  });
  const kb = gateway.integration('kb', { tools: { slow: { attemptMs: 2000 } }, policy: { idleMs: 5000 } }, never);
  await gateway.start();
  const failed = gateway.wait('call.failed');
  const call = kb.call(tool === undefined ? 'x' : { tool, input: 'x' }, { maxAttempts: 1, ...options });
  await clock.advance(10_000);
  await call;
  return failed;
}

describe('the record of a failed call', () => {
  it('[O-1] names the type of the integration and the tool', async () => {
    expect(await recordOf({}, 'slow')).toMatchObject({ integration: 'kb', integrationType: 'function', tool: 'slow' });
  });

  it.each([
    [{}, undefined, 'idleMs 5s, set by the policy of kb'],
    [{}, 'slow', 'attemptMs 2s, set by the settings of the tool'],
    [{ idleMs: 1500 }, undefined, 'idleMs 1.5s, set by the options of the call'],
    [{ overallMs: 500 }, 'slow', 'overallMs 500ms, set by the options of the call'],
  ])('[O-1] says which limit passed and where it was set: %j of %s', async (options, tool, limit) => {
    const { limit: told, stack } = await recordOf(options, tool);
    expect([told, stack]).toEqual([limit, undefined]);
  });
});

describe('what records say of a command', () => {
  it.each([
    [undefined, [], { type: 'subprocess' }, undefined],
    ['claude', ['-p', '--model', 'opus'], { provider: 'anthropic' }, 'opus'],
    ['claude', ['-p', '--model=opus', '--model=haiku'], { provider: 'anthropic' }, 'haiku'],
    ['codex', ['exec', '-m', 'o9', '--', '-m', 'no'], { provider: 'openai' }, 'o9'],
    ['codex', ['exec'], { provider: 'openai' }, undefined],
  ] as const)('[O-1] of %s %j: provider and model', (agent, args, about, model) => {
    const { modelOf, ...told } = aboutCommand(agent === undefined ? undefined : { agent }, args);
    expect(told).toMatchObject(about);
    expect(modelOf?.({})).toBe(model);
  });

  it('[O-1] takes the model of the request before that of the integration', () => {
    expect(aboutCommand({ agent: 'claude' }, ['--model=opus']).modelOf?.({ args: ['--model', 'haiku'] })).toBe('haiku');
  });
});
