import type { McpConnection } from './mcpClient.ts';

/** Target that can be asked for a sign of life, and be ended. */
export type Suspect = Pick<McpConnection, 'ping' | 'kill'>;

interface HangWatchOptions {
  /** The connection of the moment; undefined while there is none. */
  readonly connection: () => Suspect | undefined;
  /** Time in ms above 0 that the server may take to answer. @defaultValue the server's `pingMs` */
  readonly pingMs?: number | undefined;
  /** It is elsewhere: its process is none of ours. @defaultValue false */
  readonly isRemote?: boolean | undefined;
}

/** Result of a suspicion: the server answers, was killed, or was gone by then. */
type HangVerdict = 'alive' | 'killed' | 'gone';

/** Tells a hung server from a slow tool. */
export interface HangWatch {
  /** A call ended by its idle limit: asks the server for a sign of life, and kills it if there is none. Never rejects. */
  suspect(): Promise<HangVerdict>;
}

/**
 * A watch over the connections of one server. Suspicions that come while one is looked into share its outcome: calls that
 * fall silent together are one incident.
 */
export function createHangWatch({ connection, pingMs, isRemote = false }: HangWatchOptions): HangWatch {
  let inquiry: Promise<HangVerdict> | undefined;
  let suspected: Suspect | undefined;

  const inquire = async (current: Suspect): Promise<HangVerdict> => {
    if (await current.ping(pingMs)) return 'alive';
    if (connection() !== current) return 'gone';
    const message = isRemote ? 'The server did not answer and was disconnected' : 'The server hung and was killed';
    current.kill({ kind: 'crash', reason: 'hang', message, outcome: 'unknown' });
    return 'killed';
  };

  return {
    suspect() {
      const current = connection();
      if (current === undefined) return Promise.resolve('gone');
      if (inquiry !== undefined && suspected === current) return inquiry;
      suspected = current;
      const mine = inquire(current).finally(() => {
        if (inquiry === mine) inquiry = undefined;
      });
      inquiry = mine;
      return mine;
    },
  };
}
