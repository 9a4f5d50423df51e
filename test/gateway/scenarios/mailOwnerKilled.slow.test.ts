import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { newSchema } from '../../store/startPostgres.ts';
import { hasPostgres } from '../../support/postgresServer.ts';

const program = fileURLToPath(new URL('../../fixtures/mailOwner.mjs', import.meta.url));

/** The owner of the session, in a process of its own. */
async function startOwner(store: string) {
  const child = spawn(process.execPath, [program, store], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  await expect.poll(() => lines).toContain('ready');
  return { child, lines };
}

describe.skipIf(!hasPostgres)('a message whose owner is killed', () => {
  it.each([1, 7, 20])(
    '[N-3] [N-4] [I-5] after message %i: nothing acknowledged is lost, nothing is processed to its end twice, and each sender hears of it',
    async (killAfter) => {
      const schema = await newSchema();
      const store = `${schema.url}&leaseMs=2500`;
      const { child, lines } = await startOwner(store);
      const gateway = createGateway({ store, control: false });
      onTestFinished(() => gateway.stop());
      const doneHere: string[] = [];
      const session = gateway.session('s', {
        onMessage: async ({ text = '' }, turn) => {
          await turn.done();
          doneHere.push(text);
          return 'second';
        },
      });
      await gateway.start();
      expect(session.heldElsewhere).toBe(true);
      const processed: Promise<unknown>[] = [];
      // One that is taken in the moment of the kill may be refused: its sender sends it again under its key.
      const sendUntilTaken = async (text: string): Promise<void> => {
        for (let isTaken = false; !isTaken; ) {
          const sent = await session.send({ kind: 'user', text }, { key: text });
          isTaken = sent.accepted || sent.reason === 'duplicate';
          if (sent.accepted) processed.push(sent.processed);
        }
      };
      for (let index = 0; index < 30; index++) await sendUntilTaken(`${index}`);
      await expect.poll(() => lines.filter((line) => line.startsWith('done')).length).toBeGreaterThanOrEqual(killAfter);
      child.kill('SIGKILL');
      for (let index = 30; index < 40; index++) await sendUntilTaken(`${index}`);
      const ends = await Promise.all(processed);
      expect(ends.filter((end) => (end as { ok: boolean }).ok)).toHaveLength(40);
      const done = [...lines.filter((line) => line.startsWith('done ')).map((line) => line.slice(5)), ...doneHere];
      expect(done).toHaveLength(new Set(done).size);
      expect(doneHere.length).toBeGreaterThan(0);
      // Of one whose process ended right after its end was kept nobody could say so.
      expect(done.length).toBeGreaterThanOrEqual(39);
      const order = done.map(Number);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
      expect(await schema.ask('SELECT state, count(*)::int AS n FROM uw.message GROUP BY state')).toEqual([
        { state: 'done', n: 40 },
      ]);
    },
  );
});
