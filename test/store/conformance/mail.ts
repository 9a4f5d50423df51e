import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/policy/failures/failure.ts';
import type { IncomingMail } from '../../../src/sessions/sessionMail.ts';
import type { RecoveryLimits } from '../../../src/sessions/sessionStore.ts';
import { type Engine, settled } from './engine.ts';
import { sessionsOf } from '../startStore.ts';

const now = Date.UTC(2026, 0, 1);
const limits: RecoveryLimits = {
  maxDeliveries: 3,
  maxAgeMs: 1000,
  wallNow: now,
  answer: () => ({ status: 'error', error: 'lost', retries: 0, recoverable: false }),
  facts: () => [],
};

/** What an engine has to do with messages to sessions of other runtimes, where it has mail. */
export function keepsMail(engineOf: Engine): void {
  describe('mail', () => {
    it.skipIf(engineOf.hasMail)('[N-3] is none: a session takes messages of its own runtime alone', async () => {
      const engine = await engineOf.start();
      const sessions = sessionsOf(engine.one, { id: 'a', isAlive: () => true });
      const claim = await settled(engine, sessions.claim('s', limits));
      expect([sessions.mail, claim?.held === false && claim.ledger.takeMail]).toEqual([undefined, undefined]);
    });

    it.runIf(engineOf.hasMail)('[N-3] reaches the owner of a session, and its end the sender', async () => {
      const engine = await engineOf.start();
      const [owner, sender] = [engine.one, engine.two].map((store, index) =>
        sessionsOf(store, { id: `r-${index}`, isAlive: () => true }),
      );
      const claim = owner && (await settled(engine, owner.claim('s', limits)));
      if (claim?.held !== false) throw new Error('the session is not free');
      const ends: Outcome<unknown>[] = [];
      const got: IncomingMail[] = [];
      owner?.mail?.serve('s', { receive: (mails) => got.push(...mails) > 0 });
      const message = { kind: 'user', text: 'a\0b \uD800 \uDC00 😀', data: { n: [1, '\uD800\0'] } };
      const mail = {
        session: 's',
        message,
        key: 'k',
        at: now,
        limit: 10,
        ended: (end: Outcome<unknown>) => ends.push(end),
      };
      expect(await sender?.mail?.post(mail)).toEqual({ mailed: 'kept', mail: 1 });
      expect(await sender?.mail?.post(mail)).toMatchObject({ mailed: 'duplicate', first: { mail: 1 } });
      await owner?.mail?.look();
      expect(got[0]).toEqual({ mail: 1, message, key: 'k' });
      expect(await claim.ledger.takeMail?.({ mail: 1, number: 4, joins: false })).toBe('durable');
      expect(await sender?.mail?.post(mail)).toMatchObject({ mailed: 'duplicate', first: { number: 4, mail: 1 } });
      await claim.ledger.take(4, 1, 1, now);
      expect(await claim.ledger.finish(4, 'done', now, undefined, { ok: true, value: { a: '\0' } })).toBe('durable');
      await sender?.mail?.look();
      expect(ends).toEqual([{ ok: true, value: { a: '\0' } }]);
    });
  });
}
