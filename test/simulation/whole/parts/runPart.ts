import type { SimulatedProgram } from '../../machine/simulatedProgram.ts';
import type { Gateway } from '../../../../src/gateway/gatewayTypes.ts';
import type { Host } from '../host.ts';
import type { Part, PartMaker } from '../part.ts';
import { wordOfOutcome } from '../asked.ts';
import type { WholeWorld } from '../wholeWorld.ts';
import { effectsOf } from './mcpPart.ts';

const overallMs = 90_000;

/** A command: prints its token and exits; or fails, hangs, floods, dies, or leaves something behind. */
const command = (world: WholeWorld) => (self: SimulatedProgram) => {
  const { chance } = world;
  const isBad = (probability: number): boolean => world.machine.isFaulty && chance.happens(probability);
  const token = self.facts.args.at(-1) ?? '';
  self.onInputEnd = () => undefined;
  if (isBad(0.1)) self.takes = () => true;
  if (isBad(0.1)) self.machine.fork(self, (child) => (child.onInputEnd = () => undefined), chance.happens(0.5));
  if (isBad(0.05)) return;
  if (isBad(0.05)) self.write('x'.repeat(chance.integer(1000, 100_000)), chance.pick(['stdout', 'stderr']));
  self.after(isBad(0.3) ? chance.span(1, 200_000) : 2, () => {
    effectsOf(world).done(token, true);
    if (isBad(0.1)) self.die(chance.pick(['SIGKILL', 'SIGSEGV']));
    else if (isBad(0.12)) {
      self.write('it failed\n', 'stderr');
      self.exit(chance.integer(1, 5));
    } else {
      self.write(`done ${token}\n`);
      self.exit(0);
    }
  });
};

/** A command that is run for each call. */
class RunPart implements Part {
  readonly steps = [
    [5, () => this.ask()],
    [0.5, () => this.#last.abort()],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  #integration: ReturnType<Gateway['subprocess']> | undefined;
  #lastCall = 0;
  #last = new AbortController();
  #lastWord = '';

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  declare({ gateway }: Host): void {
    this.#integration = gateway.subprocess('command', {
      command: process.execPath,
      args: ['sim:command'],
      effect: 'mutating',
      graceMs: 1000,
      policy: { limits: { idleMs: 20_000, attemptMs: 60_000, overallMs }, breaker: { maxOpenMs: 60_000 } },
    });
  }

  ask(): void {
    const { open, asked, judge } = this.#world;
    if (open === undefined) return;
    const token = `run-${++this.#lastCall}`;
    const ended = asked.begin(token, overallMs);
    this.#last = new AbortController();
    const { signal } = this.#last;
    void this.#integration?.call({ args: [token] }, { signal }).then((outcome) => {
      if (!open.isAlive) return;
      this.#lastWord = wordOfOutcome(outcome);
      ended(this.#lastWord);
      const isIts = !outcome.ok || JSON.stringify(outcome.value).includes(`done ${token}\\n`);
      judge.expect(isIts, 'I-1', () => `${token} gets what is not its output`);
      const isSilent =
        !outcome.ok && outcome.failure.outcome === 'not_started' && effectsOf(this.#world).times(token) > 0;
      judge.expect(!isSilent, 'R-12', () => `${token} was done and is told as never begun`);
    });
  }

  checkQuiet(): void {
    this.#world.judge.expect(this.#lastWord === 'ok', 'Q-2', () => `the last run ended ${this.#lastWord}`);
  }
}

export const runMaker: PartMaker = {
  programs: (world) => ({ 'sim:command': command(world) }),
  make: (world) => new RunPart(world),
};
