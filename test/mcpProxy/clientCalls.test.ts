import { describe, expect, it } from 'vitest';
import { startProxy } from './startProxy.ts';

describe('a cancellation by the client', () => {
  it('[P-3] of an id that two requests in flight have ends the later one alone', async () => {
    const proxy = await startProxy();
    await proxy.open();
    void proxy.call('act', { do: 'hold', key: 'first' }, 4);
    void proxy.call('act', { do: 'hold', key: 'second' }, 4);
    proxy.notify('notifications/cancelled', { requestId: 4, reason: 'not wanted' });
    expect(await proxy.told('call.failed')).toMatchObject({ failure: { kind: 'cancelled' } });
    // The server answers in this order, so whatever the first release brings the client has been read with the second's.
    await proxy.call('act', { do: 'release', key: 'second' });
    await proxy.call('act', { do: 'release', key: 'first' });
    const answers = proxy.lines.filter((line) => line.includes('"id":4'));
    expect(answers.map((line) => /released \w+/.exec(line)?.[0])).toEqual(['released first']);
  });
});
