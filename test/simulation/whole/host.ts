import { codexKind } from '../../../agents/codex/codex.ts';
import { createGateway } from '../../../src/gateway/gateway.ts';
import { workflowKind } from '../../../workflow/workflow.ts';
import { seededRandom } from '../../../testing/random.ts';
import { MortalClock } from '../payments/mortalClock.ts';
import { WatchedClock } from '../watchedClock.ts';
import type { WholeWorld } from './wholeWorld.ts';

function makeGateway(world: WholeWorld, clock: WatchedClock, random: () => number) {
  return createGateway({
    kinds: [codexKind, workflowKind],
    clock,
    random,
    store: world.disk.path,
    inbox: true,
    control: false,
    childGuard: false,
    alerts: false,
  });
}

/** One life of the process of a gateway. */
export class Host {
  readonly number: number;
  readonly gateway: ReturnType<typeof makeGateway>;
  state: 'starting' | 'running' | 'stopping' | 'over' = 'starting';
  readonly watched: WatchedClock;
  readonly #mortal: MortalClock;
  readonly #world: WholeWorld;

  constructor(world: WholeWorld, number: number) {
    this.#world = world;
    this.number = number;
    this.#mortal = new MortalClock(world.clock, () => world.crossing());
    this.watched = new WatchedClock(this.#mortal, world.judge);
    this.gateway = makeGateway(world, this.watched, seededRandom(world.seed * 1000 + number));
    this.gateway.on('*', (fact) => {
      if (!this.isAlive) return;
      const { type } = fact;
      const of = 'integration' in fact ? fact.integration : 'child' in fact ? fact.child : '';
      // A run of a workflow has a name of chance.
      world.trace.note(`  ${type} ${of?.replace(/^(workflow:.*)-[0-9a-f]{8}$/, '$1')}`);
      if (type === 'listener.failed') world.judge.violate('I-4', `${fact.event} threw: ${fact.error}`);
      for (const hear of world.listeners) hear(fact);
      this.crossing();
    });
  }

  get isAlive(): boolean {
    return this.#mortal.isAlive;
  }

  get isRunning(): boolean {
    return this.isAlive && this.state === 'running';
  }

  /** Anything that it does may be its last. */
  crossing(): void {
    if (this.isAlive) this.#world.crossing();
  }

  start(): void {
    const { trace, judge, disk } = this.#world;
    const wasWell = disk.isWell;
    this.gateway.start().then(
      () => {
        if (this.state === 'starting') this.state = 'running';
        if (this.isAlive) trace.note('the gateway has started');
      },
      (error: unknown) => {
        if (!this.isAlive) return;
        trace.note('the gateway cannot start');
        judge.expect(!wasWell || !disk.isWell, 'I-6', () => `the start fails on a disk that is well: ${String(error)}`);
        this.#world.kill();
      },
    );
  }

  stop(): Promise<void> {
    this.state = 'stopping';
    return this.gateway.stop();
  }

  /** Ends at once, in the middle of whatever it does. */
  kill(): void {
    this.#mortal.isAlive = false;
    this.state = 'over';
  }
}
