import { performance } from 'node:perf_hooks';
import { expect, it } from 'vitest';
import { makeServeHome, startServe } from '../../../cli/startServe.ts';
import { faultyServer } from '../../../support/faultyServer.ts';
import { PlainClient } from '../plainClient.ts';

it('[E-1] [I-3] ends servers that do not obey all at once: the stop does not take longer the more of them there are', async () => {
  const stubborn = faultyServer({ ignoreSigterm: true, ignoreStdinEnd: true });
  const names = ['one', 'two', 'three', 'four', 'five'];
  const serving = await startServe(makeServeHome({ mcpServers: Object.fromEntries(names.map((n) => [n, stubborn])) }));
  const client = await new PlainClient(serving, 'main').open();
  for (const server of names)
    expect(await client.send(server, 'echo', { message: 'hello' }, { wait: '1m' })).toMatchObject({ state: 'done' });
  const before = performance.now();
  serving.child.kill('SIGTERM');
  expect(await serving.exited).toEqual({ code: 0, signal: null });
  // Each takes 4 s: 2 from the end of its stdin to SIGTERM, 2 more to SIGKILL.
  expect(performance.now() - before).toBeLessThan(15_000);
});
