import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { faultyServer } from '../../../support/faultyServer.ts';

const everything = fileURLToPath(
  new URL('../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
);

// The time of the calls is real, and the limit long: on a busy machine a server may be late with its progress.
it.each([
  [
    'a real server',
    { command: process.execPath, args: [everything] },
    { name: 'trigger-long-running-operation', arguments: { duration: 6, steps: 60 } },
  ],
  [
    'one of `unwedge/testing`',
    faultyServer({ faults: [{ tool: 'search', do: 'slow', ms: 6000, progress: 120 }] }),
    { name: 'search' },
  ],
])('[P-1] [G-7] a call of %s that reports progress lives beyond its idle limit', async (_, server, request) => {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const kb = gateway.mcpServer('kb', server);
  await gateway.start();
  await kb.tools();
  expect(await kb.call(request, { idleMs: 5000, maxAttempts: 1 })).toMatchObject({ ok: true });
});
