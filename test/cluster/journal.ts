import { createHash } from 'node:crypto';
import type { Claim, Kept, SessionLedger, SessionStore } from '../../src/sessions/sessionStore.ts';
import { toJson } from '../../src/policy/text/storedJson.ts';
import { Leases } from '../../postgres/leases.ts';
import type { JournalEntry, JournalFence, MessageEntry } from '../history/journalEntry.ts';

/** Takes an entry of a journal. */
export type Note = (entry: JournalEntry) => void;

/** The token under which each session was claimed last in this process: the boundary of the store does not give it. */
const tokens = new Map<string, number>();

/** Hears of the tokens that leases have; for the whole process. */
export function hearTokens(): void {
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is called with its own `this`.
  const { claimed } = Leases.prototype;
  Leases.prototype.claimed = function hear(lease, ...more) {
    tokens.set(lease.session, Number(lease.token));
    return claimed.call(this, lease, ...more);
  };
}

/** What a result is told apart by; the database counts the same. */
export function digestOf(text: string): string {
  return createHash('md5').update(text).digest('hex').slice(0, 12);
}

/** Sessions of a node whose every claim and write is noted when its answer has come. */
export function journalled(store: SessionStore, node: string, note: Note): SessionStore {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === 'claim') {
        return async (...args: Parameters<SessionStore['claim']>) =>
          claimed(await target.claim(...args), { node, session: args[0] }, note);
      }
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function claimed(claim: Claim | undefined, who: Omit<JournalFence, 'token'>, note: Note): Claim | undefined {
  if (claim === undefined || claim.held) return claim;
  const { waiting, deadLetters, lost, open } = claim.recovered;
  const fence: JournalFence = { ...who, token: tokens.get(who.session) ?? 0 };
  note({
    type: 'claim',
    ...fence,
    waiting: waiting.map(({ number }) => number),
    deadLetters: deadLetters.map(({ number }) => number),
    pending: [...lost, ...open].map(({ call }) => call),
  });
  return { ...claim, ledger: new Proxy(claim.ledger, { get: (ledger, name) => method(ledger, name, fence, note) }) };
}

/** A method of the ledger that notes what came of it. */
function method(ledger: SessionLedger, name: string | symbol, fence: JournalFence, note: Note): unknown {
  const message =
    (type: MessageEntry['type'], number: number, more?: Pick<MessageEntry, 'key' | 'begun' | 'isMail'>) =>
    (kept: Kept) =>
      heard(kept, (unheard) => note({ type, ...fence, message: number, ...more, unheard }));
  const call = (type: 'dispatch' | 'settle', id: string, result?: string) => (kept: Kept) =>
    heard(kept, (unheard) => note({ type, ...fence, call: id, result, unheard }));
  const heard = (kept: Kept, tell: (unheard: boolean | undefined) => void): Kept => {
    if (kept === 'fenced') note({ type: 'lost', ...fence });
    else tell(kept === 'durable' ? undefined : true);
    return kept;
  };
  const own: Partial<SessionLedger> = {
    post: (stored) => ledger.post(stored).then(message('post', stored.number, { key: stored.key })),
    takeMail: async (mail) => {
      const kept = (await ledger.takeMail?.(mail)) ?? 'volatile';
      return mail.joins ? kept : message('post', mail.number, { isMail: true })(kept);
    },
    take: (number, ...more) => ledger.take(number, ...more).then(message('take', number)),
    putBack: (number, begun) => {
      // It ends a node's work on the message: the node may be gone before the answer comes.
      note({ type: 'put_back', ...fence, message: number, begun, unheard: true });
      return ledger.putBack(number, begun).then(message('put_back', number, { begun }));
    },
    finish: (number, ...more) => ledger.finish(number, ...more).then(message('end', number)),
    open: (opened) => ledger.open(opened).then(call('dispatch', opened.call)),
    settle: (id, result, ...more) =>
      ledger.settle(id, result, ...more).then(call('settle', id, digestOf(toJson(result)))),
    release: async () => {
      await ledger.release();
      note({ type: 'release', ...fence });
    },
  };
  const found: unknown = Reflect.get(own, name) ?? Reflect.get(ledger, name, ledger);
  return typeof found === 'function' ? (found.bind(ledger) as unknown) : found;
}
