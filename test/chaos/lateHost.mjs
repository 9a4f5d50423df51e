// A gateway whose sessions ask a slow tool, to be killed: `node lateHost.mjs DATABASE URL JOURNAL`. Takes `SESSION KEY QUESTION MS` on each line of its stdin.
// A question that is told to be under way still is asked again, as an agent does. Each call is appended to the journal, in JSON, and each answer.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { createGateway } from '../../dist/index.js';

const [, , store, url, journal] = process.argv;
const gateway = createGateway({ store, control: false });
// It is asked again and again, and takes longer than its limit: neither is to end what is looked at.
const breaker = { consecutiveFailures: 1_000_000, minimumAttempts: 50, failureRatio: 1, windowMs: 1000 };
gateway.mcpServer('late', {
  url,
  policy: { limits: { attemptMs: 150, overallMs: 150 }, retry: { maxAttempts: 1 }, breaker },
  tools: { work: { repeats: 'allowed' } },
});
const ids = ['s-0', 's-1'];
for (const id of ids) {
  gateway.session(id, {
    recovery: { maxDeliveries: 50 },
    onMessage: async ({ data: { key, question, ms } }, turn) => {
      const note = (result) =>
        appendFileSync(journal, `${JSON.stringify({ session: id, key, question, delivery: turn.delivery, result })}\n`);
      for (let time = 0; time < 60; time++) {
        note(undefined);
        const result = await turn.tool('late', 'work', { question, ms });
        note(result);
        if (result.keptUntil === undefined && !(result.outcome === 'not_started' && result.retryable)) break;
        // What comes meanwhile finds nobody who waits.
        await wait(time % 2 === 0 ? 400 : 50);
      }
      process.stdout.write(`processed ${key}\n`);
    },
  });
}
await gateway.start();
process.stdout.write('ready\n');
for await (const line of createInterface({ input: process.stdin })) {
  const [session, key, question, ms] = line.split(' ');
  const given = await gateway.session(session).send({ kind: 'user', data: { key, question, ms: Number(ms) } }, { key });
  if (given.accepted || given.reason === 'duplicate') process.stdout.write(`accepted ${key}\n`);
}
