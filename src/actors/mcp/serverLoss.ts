import type { ConnectionEvent, ProcessEnd } from '../../machines/connection.ts';
import type { Clock } from '../../policy/clock.ts';
import type { FailureFacts } from '../../policy/failure.ts';
import type { ServerLink } from './serverLink.ts';
import { killGraceMs } from '../process/processLink.ts';

/** An end that was asked for. */
export const stopped: FailureFacts = {
  kind: 'crash',
  reason: 'stopped',
  message: 'The server was stopped',
  outcome: 'unknown',
};

/**
 * Loss of one incarnation of a server: once, for the first reason there is.
 * @param startedAt - when the incarnation began, in ms of `clock`.
 * @param send - tells the connection's machine.
 * @param onLost - told once, before the process is gone. The owner of the calls hears of it before they end one by one: one incident counts once.
 */
export function serverLoss(
  server: ServerLink,
  clock: Clock,
  startedAt: number,
  send: (event: ConnectionEvent) => void,
  onLost: (facts: FailureFacts) => void,
) {
  let lost: FailureFacts | undefined;

  const lose = (facts: FailureFacts): boolean => {
    if (lost !== undefined) return false;
    lost = facts;
    onLost(facts);
    server.finish({ ...server.exit, fault: 'abandoned' });
    return true;
  };

  const ended = (): ProcessEnd => ({ pid: server.pid, ...server.exit, elapsedMs: clock.now() - startedAt });

  return {
    /** Why it can no longer be used; undefined while it can. */
    get facts(): FailureFacts | undefined {
      return lost;
    },
    /** It can no longer be used. */
    lose: (facts: FailureFacts) => void lose(facts),
    /** Ends what is left of the server, then the connection: in good order where the server had ended so. */
    bury(facts: FailureFacts, clean: boolean): void {
      if (!lose(facts)) return;
      void server.terminate(killGraceMs).then(() => {
        send(clean ? { type: 'link.closed', end: ended() } : { type: 'link.lost', facts, end: ended() });
      });
    },
    /** The connection has ended in good order, once `gone` has. */
    closed: (gone: Promise<unknown>) => void gone.then(() => send({ type: 'link.closed', end: ended() })),
  };
}
