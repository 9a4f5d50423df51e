import { expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import type { ToolRequest } from '../../../src/sessions/toolRequest.ts';

it('[U-7] a tool is called through the integration itself as through its name', async () => {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const kb = gateway.integration('kb', {}, ({ tool, input }: ToolRequest<number>) => `${tool} ${input}`);
  const session = gateway.session('agent:main', {
    onMessage: async (_message, { tool }) => [await tool(kb, 'find', 1), await tool('kb', 'find', 1)],
  });
  await gateway.start();
  const accepted = await session.send({ kind: 'user' });
  const found = { status: 'ok', value: 'find 1', retries: 0 };
  expect(accepted.accepted && (await accepted.processed)).toEqual({ ok: true, value: [found, found] });
});
