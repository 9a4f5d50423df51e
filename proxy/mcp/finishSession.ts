import type { McpClientPipe } from '../wire/mcpClientPipe.ts';
import { inTime } from '../../src/policy/face.ts';
import type { ControlRequests } from './controlRequests.ts';
import type { ClientCalls } from './clientCalls.ts';
import type { ProxyScope } from './proxyScope.ts';

/** Time that requests may take to be answered after the client has ended its side, in ms. */
const drainMs = 3000;
/**
 * Time that the server may take to end once its stdin is closed, and the client to read what is left, in ms. The SDKs' clients send SIGTERM after 2 s and
 * SIGKILL after 2 s more: by then nothing of ours may be left.
 */
const graceMs = 1500;

/**
 * Ends a session after the client has ended its side: what is under way may still be answered, then the server is told, and may finish. Always resolves.
 */
export async function finishSession(
  scope: ProxyScope,
  calls: Pick<ClientCalls, 'allSettled'>,
  controlRequests: Pick<ControlRequests, 'allAnswered'>,
  pipe: Pick<McpClientPipe, 'flush'>,
): Promise<void> {
  const { clock } = scope;
  await inTime(Promise.all([calls.allSettled(), controlRequests.allAnswered()]), { clock, limitMs: drainMs });
  const last = scope.wire;
  last?.relay.endInput();
  if (last !== undefined) await inTime(last.relay.exited, { clock, limitMs: graceMs });
  await inTime(pipe.flush(), { clock, limitMs: graceMs });
}
