import { expect, it } from 'vitest';
import { startHub } from '../startHub.ts';

it('[R-18] the client of a hub gets the late answer of the server that it asked, and of no other', async () => {
  const hub = await startHub({ files: { overallMs: 3000 }, shell: { overallMs: 3000 } });
  await hub.open();
  await hub.toolNames();
  const hold = (name: string): Promise<string> => hub.call(`${name}__act`, { do: 'hold' });
  const first = hold('files');
  await expect.poll(() => hub.call('files__put', { do: 'received' })).toContain('"hold\\');
  hub.clock.skip(3000);
  expect(await first).toContain('make the same call again within 10m');
  expect(await hub.told('call.kept')).toMatchObject({ integration: 'files', tool: 'act' });
  await hub.call('files__put', { do: 'release' });
  const other = hold('shell');
  await expect.poll(() => hub.call('shell__put', { do: 'received' })).toContain('"hold\\');
  await hub.call('shell__put', { do: 'release' });
  expect(await other).toBe('released it');
  expect(await hold('files')).toContain('released it');
});

it('[R-18] the cancel of a hub’s client for a limit of its own keeps the call', async () => {
  const hub = await startHub({ files: {} });
  await hub.open();
  await hub.toolNames();
  void hub.ask('tools/call', { name: 'files__act', arguments: { do: 'hold' } }, 'slow');
  await expect.poll(() => hub.call('files__put', { do: 'received' })).toContain('"hold\\');
  const params = { requestId: 'slow', reason: 'SdkError: Request timed out' };
  hub.raw({ method: 'notifications/cancelled', params });
  await hub.told('call.kept');
  await hub.call('files__put', { do: 'release' });
  expect(await hub.call('files__act', { do: 'hold' })).toContain('released it');
  expect(await hub.call('files__put', { do: 'received' })).not.toContain('notifications/cancelled');
});

it('[R-18] the cancel of a hub’s client that crosses the answer is heard by the server that gave it', async () => {
  const hub = await startHub({ files: {}, shell: {} });
  await hub.open();
  await hub.toolNames();
  const first = hub.ask('tools/call', { name: 'files__act', arguments: { do: 'hold' } }, 'slow');
  await expect.poll(() => hub.call('files__put', { do: 'received' })).toContain('"hold\\');
  await hub.call('files__put', { do: 'release' });
  await first;
  const params = { requestId: 'slow', reason: 'SdkError: Request timed out' };
  hub.raw({ method: 'notifications/cancelled', params });
  expect(await hub.call('files__act', { do: 'hold' })).toBe('released it');
});
