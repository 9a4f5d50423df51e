import { describe, expect, it } from 'vitest';
import { textIn } from '../../http/startHttp.ts';
import { startHub } from '../startHub.ts';

describe('tools by rule behind a hub', () => {
  it('[P-11] are those of each server by its own rules', async () => {
    const hub = await startHub({ one: { deny: ['a*'] }, other: { allow: ['peek'] } });
    await hub.open();
    expect(await hub.toolNames()).toEqual(['one__peek', 'one__put', 'other__peek']);
    expect(textIn(await hub.ask('tools/call', { name: 'one__act', arguments: {} }))).toContain(
      'The rule `deny: a*` keeps the tool act of one from being called',
    );
    expect(await hub.call('other__peek', { text: 'seen' })).toBe('seen');
    expect(await hub.call('other__put', { text: 'seen' })).toContain('`allow: peek`');
  });
});

describe('equal reads behind a hub', () => {
  it('[P-13] [P-8] are one call of their server, and of no other', async () => {
    const policies = { integrations: { one: { tools: { peek: { join: true } } } } } as const;
    const hub = await startHub({ one: {}, other: {} }, [], policies);
    await hub.open();
    await hub.toolNames();
    const held = { do: 'hold', key: 'it' };
    const ask = (name: string, id: string) => hub.ask('tools/call', { name, arguments: held }, id);
    const joined = [ask('one__peek', 'a'), ask('one__peek', 'b')];
    const others = [ask('other__peek', 'c'), ask('other__peek', 'd')];
    await hub.call('one__act', { do: 'release', key: 'it' });
    expect((await Promise.all(joined)).map((each) => [each.id, textIn(each)])).toEqual([
      ['a', 'released it'],
      ['b', 'released it'],
    ]);
    await hub.call('other__act', { do: 'release', key: 'it' });
    expect(textIn(await Promise.any(others))).toBe('released it');
  });
});
