import { describe, expect, it } from 'vitest';
import { startProxy, textIn } from '../startProxy.ts';

describe('a budget of requests of a server behind the proxy', () => {
  it('[G-16] [P-9] counts what is asked of it, and neither its handshake, its lists nor signs of life; those go on once it is spent', async () => {
    const proxy = await startProxy({ policies: { integrations: { kb: { budget: { day: { requests: 3 } } } } } });
    const upkeep = async (): Promise<void> => {
      for (const method of ['ping', 'tools/list', 'tools/list', 'logging/setLevel'])
        expect(JSON.stringify(await proxy.ask(method, { level: 'info' }))).not.toContain('budget');
    };
    await proxy.open();
    await upkeep();
    expect(textIn(await proxy.call('act', { text: 'one' }))).toBe('one');
    await upkeep();
    await proxy.ask('resources/read', { uri: 'file:///a' });
    expect(textIn(await proxy.call('act', { text: 'three' }))).toBe('three');
    const failure = { kind: 'spinning', reason: 'budget', outcome: 'not_started' };
    const refused = await proxy.call('act', { text: 'four' });
    expect(refused.result).toMatchObject({ isError: true, _meta: { 'unwedge/failure': failure } });
    expect(textIn(refused)).toContain('its budget of 3 requests of the day is spent');
    expect(textIn(refused)).not.toContain('unwedge budget');
    await upkeep();
    expect(proxy.registry.budget('kb')).toMatchObject({ limits: [{ metric: 'requests', used: 3 }] });
  });
});
