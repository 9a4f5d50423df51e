import { Registry } from '../../../../src/runtime/registry.ts';
import type { Runtime } from '../../../../src/runtime/runtime.ts';
import { checkGatewayOptions } from '../../../../src/runtime/runtimeOptions.ts';
import { seededRandom } from '../../../../testing/random.ts';
import { WatchedClock } from '../../watchedClock.ts';
import { Asked } from '../asked.ts';
import type { WholeWorld } from '../wholeWorld.ts';

/** The runtime of a process beside the gateway: of a proxy. */
export class OwnRuntime {
  readonly runtime: Runtime;
  readonly asked: Asked;
  readonly #registry: Registry;
  readonly #watched: WatchedClock;
  readonly #world: WholeWorld;

  /** @param program - that its child runs. */
  constructor(world: WholeWorld, name: string, program: string) {
    this.#world = world;
    this.asked = new Asked(world);
    world.machine.beside.add(program);
    this.#watched = new WatchedClock(world.clock, world.judge);
    const clock = this.#watched;
    const options = {
      clock,
      random: seededRandom(world.seed ^ 0xacc),
      control: false,
      childGuard: false,
      alerts: false,
    };
    this.#registry = new Registry(checkGatewayOptions({ ...options, inbox: true, store: ':memory:' } as never));
    this.runtime = this.#registry.runtime;
    this.runtime.bus.on('*', ({ type }) => {
      world.trace.note(`  ${name}: ${type}`);
    });
  }

  /** Starts what `declare` declares on it. */
  start(declare: (runtime: Runtime) => void): void {
    void this.#registry.start().then(() => declare(this.runtime));
  }

  /** Stops all of it; told when it is over, with nothing of it left. */
  stop(over: () => void): void {
    const { judge, clock } = this.#world;
    void this.#registry.stop().then(() => {
      over();
      judge.expect(this.asked.size === 0, 'I-1', () => 'something that a proxy was asked has not ended after its stop');
      clock.setTimeout(() => {
        const { pending } = this.#watched;
        judge.expect(pending === 0, 'I-3', () => `${pending} timers of a proxy are left after its stop`);
      }, 1000);
    });
  }
}
