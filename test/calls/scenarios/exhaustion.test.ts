import { expect, it } from 'vitest';
import { spawnFailure } from '../../../src/actors/process/spawnFailure.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import { startIntegration } from '../../support/startIntegration.ts';

it('[S-4] [M-4] a process that this machine has no room for is tried again, told, and no failure of its integration', async () => {
  const shortage = Object.assign(new Error('spawn cli EMFILE'), { code: 'EMFILE', syscall: 'spawn cli', errno: -24 });
  let left = 3;
  const { integration, clock, facts } = startIntegration({ breaker: { consecutiveFailures: 1 } }, () => {
    if (left-- > 0) throw new AttemptError(spawnFailure(shortage, { command: 'cli' }));
    return 'found';
  });
  const outcome = integration.call('ask', { effect: 'mutating' });
  await clock.advance(10_000);
  expect(await outcome).toEqual({ ok: true, value: 'found' });
  expect(integration.breaker.state).toBe('closed');
  expect(facts.of('call.retried').map(({ kind, message }) => `${kind}: ${message}`)).toEqual(
    Array.from({ length: 3 }, () => 'transient: Cannot start "cli": too many files are open in this process (EMFILE)'),
  );
});
