import { describe, expect, it } from 'vitest';
import { Access } from '../../../../src/actors/mcp/http/access.ts';
import { SimulatedClock } from '../../../../testing/simulatedClock.ts';

const refusal = { kind: 'auth', message: 'HTTP 401', outcome: 'failed', status: 401 } as const;

function start() {
  const clock = new SimulatedClock();
  const access = new Access({ token: () => 'a' }, clock, () => undefined);
  const { signal } = new AbortController();
  return { clock, access, token: () => access.token(signal) };
}

describe('the access to a remote server', () => {
  it('[P-4] is held from the first refusal where nothing was taken yet', async () => {
    const { access, token } = start();
    access.hold('a', refusal);
    await expect(token()).rejects.toThrow('HTTP 401');
  });

  it('[P-4] is held from the second refusal in a row where the server took something before', async () => {
    const { access, token } = start();
    for (let each = 0; each < 3; each++) {
      access.accepted('a');
      access.hold('a', refusal);
      expect(await token()).toBe('a');
    }
    access.hold('a', refusal);
    await expect(token()).rejects.toThrow('HTTP 401');
  });

  it('[P-4] is tried by one request when the pause is over, and held for twice as long where that is refused', async () => {
    const { access, token, clock } = start();
    access.hold('a', refusal);
    await clock.advance(4999);
    await expect(token()).rejects.toThrow('HTTP 401');
    await clock.advance(1);
    expect(await token()).toBe('a');
    await expect(token()).rejects.toThrow('HTTP 401');
    access.hold('a', refusal);
    await clock.advance(9999);
    await expect(token()).rejects.toThrow('HTTP 401');
    await clock.advance(1);
    expect(await token()).toBe('a');
  });
});
