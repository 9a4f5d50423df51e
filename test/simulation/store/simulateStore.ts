import { judgeMail } from './mailJudge.ts';
import type { Pglite } from './pglite.ts';
import { runNodes, type StoreResult } from './runNodes.ts';
import { type Answer, type Plant, StoreNode } from './storeNode.ts';

export interface SimulateStoreOptions {
  readonly seed: number;
  /** Numbers of the planned steps that are played. @defaultValue all */
  readonly only?: readonly number[] | undefined;
  /** A bug that is to be found. @defaultValue none */
  readonly plant?: Plant | undefined;
}

/**
 * Runs several stores on one simulated PostgreSQL through what one seed says, and compares what each write was answered with what is there in the
 * end: `durable` is in the database, `fenced` is not, `volatile` may be either. Mail goes between the nodes meanwhile; see {@link judgeMail}.
 */
export function simulateStore({ seed, only, plant = {} }: SimulateStoreOptions): Promise<StoreResult> {
  return runNodes({
    seed,
    only,
    make: (name, parts) => new StoreNode(name, { ...parts, plant }),
    judge: async (database, nodes, told) => {
      const sent = nodes.flatMap(({ mail }) => mail.sent);
      const answers = nodes.flatMap((node) => node.answers);
      return (await judgeMail(database, sent, told)) ?? (await compare(database, answers));
    },
  });
}

async function compare(database: Pglite, answers: readonly Answer[]): Promise<string | undefined> {
  const { rows: messages } = await database.query('SELECT body FROM unwedge.message');
  const { rows: calls } = await database.query('SELECT input, result, late_result FROM unwedge.call');
  const there = {
    message: messages.map(({ body }) => String((JSON.parse(String(body)) as { data?: unknown }).data)),
    call: calls.map(({ input }) => String(JSON.parse(String(input)))),
    result: calls.flatMap((row) =>
      [row['result'], row['late_result']].flatMap((text) =>
        typeof text === 'string' ? [String((JSON.parse(text) as { value?: unknown }).value)] : [],
      ),
    ),
  };
  for (const { what, mark, kept } of answers) {
    const times = there[what].filter((each) => each === mark).length;
    if (kept === 'durable' && times !== 1) return `${what} ${mark} was answered durable, and is there ${times} times`;
    if (kept === 'fenced' && times > 0) return `${what} ${mark} was answered fenced, and is there`;
    if (times > 1) return `${what} ${mark} is there ${times} times`;
  }
  return undefined;
}
