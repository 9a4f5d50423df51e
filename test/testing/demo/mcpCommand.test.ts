import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { mcpCommand } from '../../../testing/demo/mcpCommand.ts';
import { createGateway } from '../../../src/index.ts';

const own = fileURLToPath(new URL('../../../dist/parts/demoMcpServer.js', import.meta.url));

describe('the MCP server of the tour', () => {
  it('is the reference server where that is installed', () => {
    const { label, command, args } = mcpCommand();
    expect(label).toMatch(/^@modelcontextprotocol\/server-everything \d/);
    expect([command, args[0]]).toEqual([process.execPath, expect.stringContaining('server-everything')]);
  });

  it('is one of our own where it is not', () => {
    const { label, args } = mcpCommand(() => {
      throw new Error('not installed');
    });
    expect(label).toBe('our own');
    expect(args).toEqual([expect.stringMatching(/demo.demoMcpServer\.js$/)]);
  });

  it('[P-1] has the tools the tour calls, with progress, when it is our own', async () => {
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    const policy = { limits: { idleMs: 20_000 }, restartWaitMs: 25_000 };
    const server = gateway.mcpServer('own', { command: process.execPath, args: [own], policy });
    await gateway.start();
    const echo = await server.call({ name: 'echo', arguments: { message: 'hello' } });
    expect(echo).toMatchObject({ ok: true, value: { content: [{ text: 'Echo: hello' }] } });
    const slow = await server.call({ name: 'trigger-long-running-operation', arguments: { duration: 0.01, steps: 2 } });
    expect(slow).toMatchObject({
      ok: true,
      value: { content: [{ text: expect.stringContaining('Steps: 2') as string }] },
    });
  });
});
