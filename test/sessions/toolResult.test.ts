import { describe, expect, it, onTestFinished } from 'vitest';
import { AttemptError, createGateway, type Effect, type ToolResult } from '../../src/index.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

const broken = new AttemptError({ kind: 'transient', message: 'socket hang up', outcome: 'unknown' });
const overloaded = new AttemptError({ kind: 'overloaded', message: 'Come again later', outcome: 'failed' });
const refused = new AttemptError({ kind: 'transient', message: 'Connection refused', outcome: 'not_started' });

/** What the agent gets of a call whose attempts fail like this. */
async function resultOf(effect: Effect | undefined, attempts: readonly Error[]): Promise<ToolResult | undefined> {
  const clock = new SimulatedClock();
  const gateway = createGateway({ clock, control: false });
  onTestFinished(() => gateway.stop());
  let made = 0;
  gateway.integration('bank', { effect }, () => {
    throw attempts[Math.min(made++, attempts.length - 1)] ?? broken;
  });
  let result: ToolResult | undefined;
  const session = gateway.session('main', {
    onMessage: async (_, turn) => {
      result = await turn.tool('bank', 'charge', { reference: 'o-7' });
    },
  });
  await gateway.start();
  const sent = session.send({ kind: 'user', text: 'pay' });
  await clock.advance(60_000);
  await sent;
  return result;
}

describe('the error result of a tool call', () => {
  it.each([undefined, 'idempotent'] as const)(
    '[G-13] [R-16] does not pass over what an earlier attempt of a call of effect %s may have done',
    async (effect) => {
      const result = await resultOf(effect, [broken, overloaded]);
      expect(result).toMatchObject({
        synthetic: true,
        kind: 'overloaded',
        outcome: 'unknown',
        retries: 2,
        attempts: 3,
      });
      expect(result !== undefined && 'error' in result ? result.error : '').toContain(
        'outcome unknown; an earlier attempt may have',
      );
    },
  );

  it('[G-13] is the error alone where no attempt can have had an effect, or none that matters', async () => {
    const plain = { status: 'error', retries: 2, recoverable: false, retryable: true };
    expect(await resultOf(undefined, [overloaded])).toEqual({ ...plain, error: 'Come again later' });
    expect(await resultOf(undefined, [refused, overloaded])).toEqual({ ...plain, error: 'Come again later' });
    expect(await resultOf('readOnly', [broken, overloaded])).toEqual({ ...plain, error: 'Come again later' });
  });

  it('[G-13] [R-16] says of a broken connection that what changes something may have been done', async () => {
    const result = await resultOf('mutating', [broken]);
    expect(result).toMatchObject({ synthetic: true, kind: 'transient', outcome: 'unknown', retries: 0 });
    expect(result).toMatchObject({
      error:
        'socket hang up: outcome unknown; it may have taken effect; it is declared mutating and was not repeated: find out whether it happened before you call it again.',
    });
    expect(await resultOf('mutating', [refused, refused, refused])).not.toHaveProperty('synthetic');
  });
});
