import { describe, expect, it } from 'vitest';
import { firstOf } from './firstOf.ts';
import { simulateStore } from './simulateStore.ts';
import type { Plant } from './storeNode.ts';

const firstViolation = ({ mutate: plant, ...others }: Plant = {}, first = 1): Promise<string | undefined> =>
  firstOf((seed, mutate) => simulateStore({ seed, plant: { ...others, mutate } }), plant, first);

describe('stores on a simulated database', { timeout: 1_800_000 }, () => {
  it('[N-2] [N-3] [N-4] [I-5] [G-11] answer each write as it is in the end, and mail as it is promised, over 200 seeds', async () => {
    expect(await firstViolation()).toBeUndefined();
  });

  describe('find a planted bug:', () => {
    it('[N-4] a write without its fence', async () => {
      const fence = /WHERE l\.token = [fr]\.token AND l\.lease_id = [fr]\.lease_id(?=.* FOR SHARE OF l)/;
      const plant: Plant = { mutate: (text) => text.replace(fence, '') };
      expect(await firstViolation(plant)).toBeDefined();
    });

    it('[N-4] a lease by the clock of a node', async () => {
      const plant: Plant = {
        mutate: (text, { wallNow }) =>
          text.replaceAll('clock_timestamp()', () => `TIMESTAMPTZ '${new Date(wallNow).toISOString()}'`),
      };
      expect(await firstViolation(plant)).toMatch(/lease_by_database/);
    });

    it('[I-5] a batch of which not all rows are written, and that commits', async () => {
      const plant: Plant = { mutate: (text) => text.replace(/HAVING \(CASE.*/, 'HAVING false') };
      expect(await firstViolation(plant, 31)).toBeDefined();
    });

    it('[I-5] an acknowledgement before the commit', async () => {
      expect(await firstViolation({ acknowledgesEarly: true })).toMatch(/answered durable, and is there 0 times/);
    });

    it('[I-5] a message that is delivered twice without a kill', async () => {
      expect(await firstViolation({ deliversTwice: true }, 51)).toMatch(/nothing_doubled/);
    });

    it('[N-3] mail that is taken the last first', async () => {
      const plant: Plant = { mutate: (text) => text.replace('ORDER BY m.id LIMIT $3', 'ORDER BY m.id DESC LIMIT $3') };
      expect(await firstViolation(plant, 51)).toMatch(/stands before/);
    });

    it('[N-3] mail that is taken though its key is known', async () => {
      expect(await firstViolation({ joinsNoMail: true })).toMatch(/is that of 2 messages/);
    });

    it('[N-3] mail with a key that is lost with a claim', async () => {
      const plant: Plant = {
        mutate: (text) =>
          text.replace('FROM numbered WHERE joined IS NULL', 'FROM numbered WHERE joined IS NULL AND key IS NULL'),
      };
      expect(await firstViolation(plant)).toMatch(/\bmail node-/);
    });

    it('[N-3] an end of which the sender never hears', async () => {
      const plant: Plant = {
        mutate: (text) => text.replace("x.number = w.number AND x.state = 'taken' RETURNING", 'false RETURNING'),
      };
      expect(await firstViolation(plant)).toMatch(/something waits, and nobody takes it/);
    });

    it('[I-5] a message with a key that is lost', async () => {
      const inserted =
        /(INSERT INTO \S+message \(session, number, body, key, state, posted_at\)\s+SELECT [^()]+ FROM w)\b/;
      const plant: Plant = {
        mutate: (text) =>
          inserted.test(text)
            ? text
                .replace(inserted, '$1 WHERE key IS NULL')
                .replace('changed AS (SELECT FROM inserted)', 'changed AS (SELECT FROM w)')
                .replace(/changed AS \(SELECT ord AS o FROM \([^]*?WHERE made\)/, 'changed AS (SELECT ord AS o FROM w)')
            : text,
      };
      expect(await firstViolation(plant)).toMatch(/answered durable, and is there 0 times/);
    });
  });
});
