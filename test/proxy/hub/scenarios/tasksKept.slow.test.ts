import { expect, it } from 'vitest';
import { startHub } from '../startHub.ts';

it('[P-10] the task that a kept call is to the client of a hub is asked for at the server that has it', async () => {
  const hub = await startHub({ files: { overallMs: 3000 }, shell: { overallMs: 3000 } });
  await hub.open();
  await hub.toolNames();
  const answer = hub.ask('tools/call', { name: 'files__act', arguments: { do: 'hold' }, task: { ttl: 9000 } });
  await expect.poll(() => hub.call('files__put', { do: 'received' })).toContain('"hold\\');
  hub.clock.skip(3000);
  const { taskId } = ((await answer).result?.['task'] ?? {}) as { readonly taskId?: string };
  expect((await hub.ask('tasks/get', { taskId })).result).toMatchObject({ status: 'working' });
  await hub.call('files__put', { do: 'release' });
  expect((await hub.ask('tasks/result', { taskId })).result).toMatchObject({ content: [{ text: 'released it' }] });
});
