import { describe, expect, it, onTestFinished } from 'vitest';
import { CallableIntegration } from '../../../../src/calls/integration.ts';
import { createGateway } from '../../../../src/gateway/gateway.ts';
import type { FailureFacts } from '../../../../src/policy/failures/failure.ts';
import { resolvePolicy } from '../../../../src/policy/presetChain.ts';
import { replay } from '../../../../incident/replay/replay.ts';
import type { ReplayResult } from '../../../../incident/replay/compare.ts';
import { registryOf } from '../../../../src/runtime/registryOf.ts';
import { superviseIntegration } from '../../../../src/runtime/superviseIntegration.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';
import { gathered, readBack } from '../gathered.ts';

const hung: FailureFacts = { kind: 'crash', reason: 'hang', message: 'it hung', outcome: 'unknown' };

/**
 * A server that answers one call never. Asked for a sign of life it takes 5 s, in which another call comes.
 * @param isAlive - what it comes to: else it is killed and comes back.
 */
async function replayed(isAlive: boolean): Promise<ReplayResult> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, random: () => 0.5, store: ':memory:', alerts: false });
  const runtime = registryOf(gateway)?.runtime;
  if (runtime === undefined) throw new Error('A gateway has a runtime');
  let inquiries = 0;
  const path = superviseIntegration<string, string>(runtime, {
    name: 'kb',
    about: { type: 'mcp' },
    policy: resolvePolicy('kb', { limits: { idleMs: 1000, attemptMs: 20_000, overallMs: 30_000 } }),
    operation: (input) =>
      new Promise((resolve) => {
        if (input === 'slow') clock.setTimeout(() => resolve('found'), 5500);
      }),
    onSilence: () => {
      // One that hangs is killed before that is told; from then on it answers.
      const [alive, afterMs] = inquiries++ > 0 ? [true, 10] : [isAlive, isAlive ? 5000 : 5500];
      return new Promise((resolve) => void clock.setTimeout(() => resolve(alive), afterMs));
    },
    whenAlive: 'wait',
  });
  await gateway.start();
  onTestFinished(async () => {
    const stopping = gateway.stop();
    await clock.advance(60_000);
    await stopping;
  });
  const kb = new CallableIntegration(path);
  void kb.call('silent');
  await clock.advance(1500);
  void kb.call('slow', { effect: 'readOnly' });
  await clock.advance(4500);
  if (!isAlive) path.crashed(hung);
  await clock.advance(100);
  if (!isAlive) path.restarted();
  await clock.advance(30_000);
  const incident = readBack(await gathered(gateway, 'kb', clock));
  return replay(incident, { clock: new SimulatedClock(), random: seededRandom(1) });
}

describe('the replay of a server that was asked for a sign of life', () => {
  it.each([
    ['was alive', true, ['failed: timeout, 1 attempt', 'answered, 1 attempt']],
    ['hung', false, ['failed: crash, 1 attempt', 'answered, 1 attempt']],
  ])('[O-16] [P-3] has calls wait until that was known, and ends as it did: it %s', async (_, isAlive, ends) => {
    const { lines, first } = await replayed(isAlive);
    expect(first).toBeUndefined();
    const calls = lines.map(({ recorded }) => recorded?.what).filter((what) => what?.includes('attempt'));
    expect(new Set(calls)).toEqual(new Set(ends));
  });
});
