import { expect, it } from 'vitest';
import { startHub } from '../startHub.ts';
import type { Message } from '../../http/startHttp.ts';

const isTold = (message: Message): boolean => JSON.stringify(message).includes('[unwedge: ');

it('[P-9] the client of a hub is told of a tool by its own name, and what another server did is news to it', async () => {
  const hub = await startHub({ files: {}, shell: { spinning: 'hold' } });
  await hub.open();
  await hub.toolNames();
  const test = (): Promise<Message> => hub.ask('tools/call', { name: 'shell__act', arguments: { do: 'fail' } });
  const edit = (text: string): Promise<string> => hub.call('files__act', { text });
  for (let round = 0; round < 25; round++) {
    expect(isTold(await test())).toBe(false);
    expect(await edit(`edit ${round}`)).toBe(`edit ${round}`);
  }
  for (let round = 0; round < 5; round++) expect(isTold(await test())).toBe(false);
  const told = await test();
  expect(told.result?.content?.[1]?.text).toMatch(/^\[unwedge: shell__act was called 6 times/);
  for (let round = 6; round < 20; round++) await test();
  expect((await test()).result?.content?.[0]?.text).toMatch(/^Not called again: shell__act was called 21 times/);
  // Of the other server nothing else was chosen.
  for (let round = 0; round < 25; round++) expect(await hub.call('files__act', { do: 'fail' })).toBe('no');
  expect(await hub.told('session.spinning')).toMatchObject({
    ...{ integration: 'shell', tool: 'shell__act', step: 'notice' },
  });
});
