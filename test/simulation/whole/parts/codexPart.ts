import type { Codex, CodexThread } from '../../../../agents/codex/index.ts';
import type { Host } from '../host.ts';
import type { Part, PartMaker } from '../part.ts';
import { wordOfOutcome } from '../asked.ts';
import type { WholeWorld } from '../wholeWorld.ts';
import { codexProgram } from './codexProgram.ts';

const overallMs = 120_000;
/** The start of an app-server, and of a thread on it, each within this; after it the turn has its own limit. In ms. */
const threadMs = 120_000;

/** An app-server of Codex, threads on it, and their turns. */
class CodexPart implements Part {
  readonly steps = [
    [4, () => this.ask()],
    [0.5, () => this.#last?.abort()],
    [0.3, () => void this.#codex?.close()],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  #codex: Codex | undefined;
  #thread: CodexThread | undefined;
  #last: AbortController | undefined;
  #lastTurn = 0;
  #lastWord = '';

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  declare({ gateway }: Host): void {
    const limits = { idleMs: 20_000, attemptMs: overallMs, overallMs };
    this.#codex = gateway.codex('codex', {
      command: process.execPath,
      args: ['sim:codex'],
      policy: { limits, breaker: { resetTimeoutMs: 5000, maxOpenMs: 60_000 } },
      approve: (_question, { signal }) => this.#approve(signal),
    });
  }

  ask(): void {
    const { open, asked } = this.#world;
    const codex = this.#codex;
    if (open === undefined || codex === undefined) return;
    const token = `turn-${++this.#lastTurn}`;
    if (this.#thread?.valid === true && !this.#thread.busy) {
      this.#turn(this.#thread, token, open);
      return;
    }
    const ended = asked.begin(`thread for ${token}`, threadMs);
    void codex.startThread().then((outcome) => {
      if (!open.isAlive) return;
      ended(wordOfOutcome(outcome));
      this.#lastWord = wordOfOutcome(outcome);
      if (!outcome.ok) return;
      this.#thread = outcome.value;
      this.#turn(outcome.value, token, open);
    });
  }

  killed(): void {
    this.#thread = undefined;
  }

  checkQuiet(): void {
    this.#world.judge.expect(this.#lastWord === 'ok', 'Q-2', () => `the last turn of Codex ended ${this.#lastWord}`);
  }

  #turn(thread: CodexThread, token: string, host: Host): void {
    const { asked, judge } = this.#world;
    const ended = asked.begin(token, overallMs);
    this.#last = new AbortController();
    const turn = thread.send(token, { signal: this.#last.signal });
    void turn.outcome.then((outcome) => {
      if (!host.isAlive) return;
      this.#lastWord = wordOfOutcome(outcome);
      ended(this.#lastWord);
      const isIts = !outcome.ok || JSON.stringify(outcome.value).includes(`said ${token}"`);
      judge.expect(isIts, 'I-1', () => `${token} gets another answer`);
    });
  }

  async #approve(signal: AbortSignal): Promise<'accept' | 'decline'> {
    const { chance, clock, calm } = this.#world;
    const ms = calm ? 1 : chance.span(1, 60_000);
    await new Promise<void>((resolve) => {
      clock.setTimeout(resolve, ms);
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    return chance.pick(['accept', 'decline']);
  }
}

export const codexMaker: PartMaker = {
  programs: (world) => ({ 'sim:codex': codexProgram(world) }),
  make: (world) => new CodexPart(world),
};
