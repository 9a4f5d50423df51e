import type { McpIntegration } from '../../../../src/integrations/mcp/face.ts';
import { Effects } from '../effects.ts';
import { wordOfOutcome } from '../asked.ts';
import type { Host } from '../host.ts';
import type { Part, PartMaker } from '../part.ts';
import type { WholeWorld } from '../wholeWorld.ts';
import { answerTo, mcpProgram } from './mcpProgram.ts';

const overallMs = 120_000;

/** An MCP server that is run as a process, and calls of its tools. */
class McpPart implements Part {
  readonly steps = [
    [6, () => this.ask()],
    [1, () => Array.from({ length: 6 }, () => this.ask())],
    [0.3, () => this.#world.open?.gateway.restart('tools')],
    [0.5, () => this.#abort()],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  #server: McpIntegration | undefined;
  #lastCall = 0;
  #lastWord = '';
  readonly #signals: AbortController[] = [];

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  declare({ gateway }: Host): void {
    this.#server = gateway.mcpServer('tools', {
      command: process.execPath,
      args: ['sim:tools'],
      policy: {
        limits: { idleMs: 10_000, attemptMs: 60_000, overallMs },
        breaker: { resetTimeoutMs: 5000, maxOpenMs: 60_000 },
      },
    });
  }

  ask(): void {
    const { open, chance, asked } = this.#world;
    const server = this.#server;
    if (open === undefined || server === undefined) return;
    const name = chance.pick(['read', 'pay', 'put']);
    const token = `${name}-${++this.#lastCall}`;
    const controller = new AbortController();
    this.#signals.push(controller);
    const ended = asked.begin(token, overallMs);
    void server.call({ name, arguments: { token } }, { signal: controller.signal }).then((outcome) => {
      if (!open.isAlive) return;
      this.#lastWord = wordOfOutcome(outcome);
      ended(this.#lastWord);
      if (outcome.ok) this.#judgeAnswer(token, JSON.stringify(outcome.value));
      else {
        const isSilent = outcome.failure.outcome === 'not_started' && this.#effects.times(token) > 0;
        this.#world.judge.expect(!isSilent, 'R-12', () => `${token} was done and is told as never begun`);
      }
    });
  }

  checkQuiet(): void {
    const { judge } = this.#world;
    judge.expect(this.#lastWord === 'ok', 'Q-2', () => `the last call of a tool ended ${this.#lastWord}`);
    judge.expect(this.#server?.state === 'idle', 'Q-2', () => `tools is ${this.#server?.state} for ever`);
  }

  get #effects(): Effects {
    return effectsOf(this.#world);
  }

  #judgeAnswer(token: string, text: string): void {
    const { judge } = this.#world;
    judge.expect(text.includes(`${answerTo(token)}"`), 'I-1', () => `${token} gets another answer: ${text}`);
    judge.expect(this.#effects.times(token) > 0, 'I-1', () => `${token} is answered and was never done`);
  }

  #abort(): void {
    this.#world.chance.pick(this.#signals.slice(-5))?.abort();
  }
}

const all = new WeakMap<WholeWorld, Effects>();

/** The effects of a world, of which its programs and its parts know. */
export function effectsOf(world: WholeWorld): Effects {
  const effects = all.get(world) ?? new Effects(world);
  all.set(world, effects);
  return effects;
}

export const mcpMaker: PartMaker = {
  programs: (world) => ({ 'sim:tools': mcpProgram(world, effectsOf(world)) }),
  make: (world) => new McpPart(world),
};
