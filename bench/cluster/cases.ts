import type { StoredCall } from '../../src/sessions/sessionStore.ts';
import { renewNode } from '../../postgres/leaseStatements.ts';
import { systemClock } from '../../src/runtime/systemClock.ts';
import { openStore } from '../../src/store/openStore.ts';
import { quantile } from '../harness/statistics.ts';
import type { Case } from '../harness/suite.ts';
import { connect, type Keeping, newPlace, type Sent, sessions } from './database.ts';

/** Enough that connections are made, plans are kept and the compiler is warm. */
const warmUp = 2_000;

/** Messages acknowledged, `inFlight` at a time. */
export function sends(keepingOf: () => Promise<Keeping>, count: number, inFlight: number): Case {
  return {
    async measure(probe) {
      const keeping = await keepingOf();
      await keeping.send(messages(0, warmUp), inFlight);
      const more = messages(warmUp, count);
      const tookMs = await probe.time('send', count, async () => {
        const before = performance.now();
        await keeping.send(more, inFlight);
        return performance.now() - before;
      });
      probe.record('sends a second', (count * 1000) / tookMs, '/s');
      await keeping.close();
    },
  };
}

/** Calls kept one after the other, after as many before them: each waits for the disk twice. */
export function calls(keepingOf: () => Promise<Keeping>, count: number): Case {
  return {
    async measure(probe) {
      const keeping = await keepingOf();
      await keeping.call(kept(0, count));
      const more = kept(count, count);
      await probe.time('call', count, () => keeping.call(more));
      await keeping.close();
    },
  };
}

/** Renewals of a node that owns so many sessions: the statement that it renews all of them with, by a connection of its own. */
export function renewals(owned: number): Case {
  return {
    once: true,
    async measure(probe) {
      const { url, schema } = await newPlace();
      const facts = { tell: () => undefined, wants: () => false };
      const path = `${url}?schema=${schema}`;
      await (await openStore({ path, required: true, clock: systemClock, facts, env: {} })).close();
      const client = await connect(url);
      await client.query(`INSERT INTO ${schema}.node (id, expires_at, due_at, host, pid, name, owned, waiting, renew_ms)
        VALUES ('bench', clock_timestamp() + interval '1 hour', clock_timestamp(), '', 0, '', 0, 0, 0)`);
      await client.query(
        `INSERT INTO ${schema}.lease (key, owner, lease_id, token)
         SELECT 'agent:' || n, 'bench', gen_random_uuid(), 1 FROM generate_series(1, $1::integer) AS n`,
        [owned],
      );
      const text = renewNode.text.replaceAll('uw.', `${schema}.`);
      const tookMs: number[] = [];
      for (let count = 0; count < 30; count++) {
        const before = performance.now();
        const { rows } = await client.query({ name: 'renew', text, values: ['bench', 3_600_000, 1_000, owned, 0, 0] });
        if (rows.length !== 1) throw new Error('The node was not renewed');
        tookMs.push(performance.now() - before);
      }
      probe.record('renewal p50', quantile(tookMs, 0.5), 'ms');
      probe.record('a session', (quantile(tookMs, 0.5) * 1000) / owned, 'µs');
      await client.end();
    },
  };
}

function messages(from: number, count: number): Sent[] {
  const at = Date.now();
  const message = { kind: 'user', text: 'x'.repeat(200) };
  return Array.from({ length: count }, (_, index) => {
    const number = from + index + 1;
    return { session: sessions[number % sessions.length] ?? '', number, message, key: undefined, at };
  });
}

function kept(from: number, count: number): StoredCall[] {
  const at = Date.now();
  return Array.from({ length: count }, (_, index) => ({
    call: `agent:0-1-${from + index + 1}`,
    turn: 1,
    integration: 'search',
    tool: 'query',
    input: { text: 'supervision trees', limit: 10 },
    effect: 'readOnly',
    seq: from + index + 1,
    at,
    deadlineAt: at + 300_000,
  }));
}
