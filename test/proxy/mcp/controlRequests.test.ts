import { expect, it } from 'vitest';
import { ControlRequests } from '../../../proxy/mcp/controlRequests.ts';
import type { ProxyScope } from '../../../proxy/mcp/proxyScope.ts';

it('[P-3] has answered all requests where there was none: an end does not wait for it', async () => {
  let isAnswered = false;
  void new ControlRequests({} as ProxyScope).allAnswered().then(() => (isAnswered = true));
  await Promise.resolve();
  expect(isAnswered).toBe(true);
});
