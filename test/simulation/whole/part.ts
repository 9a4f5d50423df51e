import type { Program } from '../machine/simulatedProgram.ts';
import type { Steps } from '../plan.ts';
import type { Host } from './host.ts';
import type { WholeWorld } from './wholeWorld.ts';

/** One part of the runtime in its world: what is asked of it, what goes wrong with it, and what must hold. */
export interface Part {
  /** Requests and faults, and how often. */
  readonly steps: Steps<WholeWorld>;
  /** A host that is about to start. */
  declare(host: Host): void;
  /** Something ordinary is asked of it. */
  ask(): void;
  /** What must hold whenever the event loop has come to rest. */
  check?(): void;
  /** The host was killed: whoever waited for it waits no more. */
  killed?(): void;
  /** All faults stop. */
  calmDown?(): void;
  /** After a long time without faults. */
  checkQuiet?(): void | Promise<void>;
}

/** What makes a part of a world, and the programs that its processes run. */
export interface PartMaker {
  readonly programs?: (world: WholeWorld) => Readonly<Record<string, Program>>;
  readonly make: (world: WholeWorld) => Part;
}
