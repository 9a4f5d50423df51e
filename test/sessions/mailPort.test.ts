import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/sessions/acceptance.ts';
import { MailPort } from '../../src/sessions/mailPort.ts';
import type { Persistence } from '../../src/sessions/persistence.ts';
import type { IncomingMail, SessionMail } from '../../src/sessions/sessionMail.ts';
import type { SessionScope } from '../../src/sessions/sessionScope.ts';
import type { Kept } from '../../src/sessions/sessionStore.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';
import { type Deferred, deferred } from '../support/deferred.ts';

const mails = (...numbers: number[]): readonly IncomingMail[] =>
  numbers.map((mail) => ({ mail, message: { kind: 'user' }, key: undefined }));

/** The mail of a session whose mailbox has room for two, and whose takings the test answers. */
function start() {
  const added: string[] = [];
  const takings: Deferred<Kept>[] = [];
  const mailbox = {
    limit: 2,
    get length() {
      return added.length;
    },
    add: ({ id }: Envelope) => added.push(id),
  };
  const persistence = {
    opening: undefined as Promise<void> | undefined,
    settling: undefined as Promise<void> | undefined,
    ledger: {},
    goOn: () => undefined,
    known: () => undefined,
    follow: () => undefined,
    takeMail: () => {
      const taking = deferred<Kept>();
      takings.push(taking);
      return taking.promise;
    },
  };
  const scope = { id: 's', clock: new SimulatedClock(), mailbox, dispatch: () => undefined };
  let number = 0;
  const port = new MailPort({} as SessionMail, {
    scope: scope as unknown as SessionScope,
    persistence: persistence as unknown as Persistence,
    nextNumber: () => ++number,
  });
  const answer = async (kept: Kept): Promise<void> => {
    for (const taking of takings) taking.resolve(kept);
    await scope.clock.settle();
  };
  return { port, persistence, added, takings, answer, clock: scope.clock };
}

describe('the mail of a session', () => {
  it('[N-3] [I-5] is in the mailbox when that is committed, and not before', async () => {
    const { port, added, answer } = start();
    expect(port.receive(mails(1, 2))).toBe(true);
    expect(added).toEqual([]);
    await answer('durable');
    expect(added).toEqual(['s-x1', 's-x2']);
  });

  it.each<Kept>(['volatile', 'fenced'])('[N-2] [N-3] is not begun here where its taking is %s', async (kept) => {
    const { port, added, answer } = start();
    port.receive(mails(1));
    await answer(kept);
    expect(added).toEqual([]);
  });

  it('[N-3] is in the mailbox in its order, whichever is heard of first: one with a key takes a moment longer', async () => {
    const { port, added, takings, answer, clock } = start();
    port.receive(mails(1, 2));
    takings[1]?.resolve('durable');
    await clock.settle();
    expect(added).toEqual([]);
    await answer('durable');
    expect(added).toEqual(['s-x1', 's-x2']);
  });

  it('[N-3] is taken once, however often it is told of', () => {
    const { port, takings } = start();
    expect([port.receive(mails(1)), port.receive(mails(1))]).toEqual([true, true]);
    expect(takings).toHaveLength(1);
  });

  it('[N-3] [G-9] stays where it is beyond the bound of the mailbox', () => {
    const { port, takings } = start();
    expect(port.receive(mails(1, 2, 3))).toBe(false);
    expect(takings).toHaveLength(2);
  });

  it('[N-3] [G-11] waits for what an earlier run left', () => {
    const { port, persistence, takings } = start();
    persistence.settling = Promise.resolve();
    expect(port.receive(mails(1))).toBe(false);
    persistence.settling = undefined;
    persistence.opening = Promise.resolve();
    expect(port.receive(mails(1))).toBe(false);
    expect(takings).toEqual([]);
  });

  it('[N-3] [I-3] is not begun after the stop, nor by an owner that has lost the session meanwhile', async () => {
    const stopped = start();
    stopped.port.receive(mails(1));
    stopped.port.close();
    await stopped.answer('durable');
    const lost = start();
    lost.port.receive(mails(1));
    lost.persistence.ledger = {};
    await lost.answer('durable');
    expect([stopped.added, lost.added, stopped.port.receive(mails(2))]).toEqual([[], [], false]);
  });
});
