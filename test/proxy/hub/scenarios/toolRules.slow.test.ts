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
