import { toJson } from '../../src/policy/text/storedJson.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { openStore } from '../../src/store/openStore.ts';
import { connect, type Keeping, newPlace, result } from './database.ts';

/** Most rows of one commit, as in the store's queue. */
const mostRows = 500;

/** `pg` by itself: the same tables and rows, prepared statements, and as many rows in a commit. Each statement is a transaction. */
export async function keptByPg(): Promise<Keeping> {
  const { url, schema } = await newPlace();
  const facts = { tell: () => undefined, wants: () => false };
  // Makes the tables.
  const path = `${url}?schema=${schema}`;
  await (await openStore({ path, required: true, clock: systemClock, facts, env: {} })).close();
  const client = await connect(url);
  const run = (name: string, text: string, values: readonly unknown[]) => client.query({ name, text, values });
  return {
    async send(messages, inFlight) {
      const group = Math.min(mostRows, inFlight);
      for (let start = 0; start < messages.length; start += group) {
        const together = messages.slice(start, start + group);
        await run(
          'post',
          `INSERT INTO ${schema}.message (session, number, body, key, posted_at)
          SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::bigint[])`,
          [
            together.map(({ session }) => session),
            together.map(({ number }) => number),
            together.map(({ message }) => toJson(message)),
            together.map(({ key }) => key ?? null),
            together.map(({ at }) => at),
          ],
        );
      }
    },
    async call(calls) {
      for (const { call, turn, integration, tool, input, effect, at, deadlineAt, seq } of calls) {
        await run(
          'open',
          `INSERT INTO ${schema}.call
            (id, session, turn, integration, tool, input, effect, runtime, started_at, deadline_at, seq)
          VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
          [call, 'agent:0', turn, integration, tool, toJson(input), effect ?? null, 'bench', at, deadlineAt, seq],
        );
        await run(
          'settle',
          `UPDATE ${schema}.call SET state = 'settled', result = $2, result_seq = $3, settled_at = $4
          WHERE id = $1 AND state = 'pending'`,
          [call, toJson(result), seq, at],
        );
      }
    },
    close: () => client.end(),
  };
}
