import type { Turn } from '../../../../src/index.ts';
import type { WholeWorld } from '../wholeWorld.ts';

const waitMs = 120_000;
/** The end of a question is that of its row, for which a lock on the file is waited for. In ms. */
const lockMs = 6000;

/** People who are asked, and answer some of it: late, twice, or never. */
export class People {
  readonly #world: WholeWorld;
  /** The first answer that was taken, by what was asked. */
  readonly #answers = new Map<string, boolean>();
  #answered = 0;

  constructor(world: WholeWorld) {
    this.#world = world;
    // Without faults somebody answers soon.
    world.listeners.push(({ type }) => {
      if (world.calm && type === 'question.asked') world.clock.setTimeout(() => void this.answerSome(), 1000);
    });
  }

  forget(): void {
    this.#answers.clear();
  }

  /** A turn asks, and waits. */
  async ask(what: string, turn: Turn): Promise<void> {
    const { asked, host, judge } = this.#world;
    // The question may be that of an earlier delivery, with the rest of its time.
    const ended = asked.begin(`question ${what}`, waitMs + lockMs);
    const outcome = await turn.ask(what, undefined, { overallMs: waitMs });
    if (host?.isAlive !== true) return;
    ended(outcome.ok ? `answered ${outcome.value}` : outcome.failure.kind);
    const first = this.#answers.get(what);
    const isIts = !outcome.ok || first === undefined || first === outcome.value;
    judge.expect(isIts, 'G-17', () => `${what} is answered ${String(first)}, and its turn is told otherwise`);
  }

  /** Somebody looks at the inbox and answers; twice, when another does so at the same time. */
  async answerSome(isTwice = false): Promise<void> {
    const { open, chance, judge, trace, calm } = this.#world;
    const inbox = open?.gateway.inbox;
    if (inbox === undefined) return;
    for (const { id, what } of await inbox.open()) {
      if (open?.isAlive !== true) return;
      if (!calm && chance.happens(0.4)) continue;
      const decisions = isTwice ? [true, false] : [chance.happens(0.5)];
      for (const yes of decisions) {
        const by = `person-${++this.#answered}`;
        void inbox.answer(id, { decision: yes ? 'accept' : 'decline', by, way: 'code' }).then(({ ok }) => {
          if (!open.isAlive || !ok) return;
          trace.note(`${what} is answered ${yes}`);
          const isFirst = !this.#answers.has(what);
          judge.expect(isFirst, 'G-17', () => `${what} takes two answers`);
          if (isFirst) this.#answers.set(what, yes);
        });
      }
    }
  }

  /** Nobody waits for an answer, so no question is open. */
  async checkQuiet(): Promise<void> {
    const { open, judge } = this.#world;
    const [question] = (await open?.gateway.inbox?.open()) ?? [];
    judge.expect(question === undefined, 'Q-2', () => `${question?.what} is open, and nobody asks any more`);
  }
}
