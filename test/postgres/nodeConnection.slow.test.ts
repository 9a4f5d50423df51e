import { describe, expect, it } from 'vitest';
import { hasPostgres } from '../support/postgresServer.ts';
import { startNodes } from './startNodes.ts';

describe.skipIf(!hasPostgres)('the connection of a node', () => {
  it('[N-4] that nobody answers is found out, and made again', { timeout: 30_000 }, async () => {
    const { start, proxy, clock } = await startNodes();
    const { node } = start();
    node.present('a');
    await expect.poll(() => node.isPresent('a')).toBe(true);
    proxy.hold('to_client');
    clock.skip(5_000);
    // The driver itself waits so long for an answer.
    await expect.poll(() => node.isPresent('a')).toBe(false);
    proxy.pass();
    await expect.poll(() => node.isPresent('a'), { timeout: 15_000 }).toBe(true);
  });
});
