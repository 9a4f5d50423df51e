import { fromCallback } from 'xstate';
import { type ConnectionEvent, connectionMachine, type LinkOrder } from '../../machines/connection.ts';
import type { FailureFacts } from '../../policy/failures/failure.ts';

/** Holder of the slot of the connection machine: one connection to a process. */
export interface ProcessLink {
  /** Ends it in good order; answered by `link.closed`. */
  close(): void;
  /** Ends it at once, for this reason; answered by `link.lost`. */
  kill(facts: FailureFacts): void;
  /** The actor is stopped, ended or not: nothing of the process may be left. */
  release(): void;
}

/** Between SIGTERM and SIGKILL for a process that is of no use any more, in ms. */
export const killGraceMs = 500;

/** The connection machine over what `start` connects to; the link tells it by `send` what happens. */
export function connectionOver(
  start: (send: (event: ConnectionEvent) => void) => ProcessLink,
): typeof connectionMachine {
  return connectionMachine.provide({
    actors: {
      link: fromCallback<LinkOrder>(({ sendBack, receive }) => {
        const link = start(sendBack);
        receive((order) => (order.type === 'link.close' ? link.close() : link.kill(order.facts)));
        return () => link.release();
      }),
    },
  });
}
