import { simulatePayments } from './payments/simulatePayments.ts';
import type { Result } from './play.ts';
import { simulate } from './simulate.ts';
import type { StoreResult } from './store/runNodes.ts';
import { simulateSessions } from './store/simulateSessions.ts';
import { simulateShared } from './store/simulateShared.ts';
import { simulateStore } from './store/simulateStore.ts';
import { loadAll } from './whole/load.ts';
import { partMakers } from './whole/parts/partMakers.ts';
import { simulateWhole } from './whole/simulateWhole.ts';

/** What one seed is played with. */
export interface SeedOptions {
  readonly seed: number;
  readonly only?: readonly number[] | undefined;
  readonly heard?: ((line: string) => void) | undefined;
}

/** One world that is simulated. */
export interface SimulatedKind {
  /** Words of the command line that play it alone; empty for the one that is played without any. */
  readonly option: string;
  readonly about: string;
  /** Its seeds for a million calls of `--all`; of no meaning for the first world, which makes the calls that are left. */
  readonly perMillion: number;
  /** Seeds that one process plays at a time. */
  readonly chunk: number;
  /** Loads what would be loaded late, in real time. */
  readonly load?: () => Promise<void>;
  readonly play: (options: SeedOptions) => Promise<Result>;
}

/** Has every part loaded all that it loads at its first use, so that a seed that is played first does as it does among others. */
const loadParts = (parts: readonly string[]) => async (): Promise<void> => {
  await loadAll();
  for (const part of parts) await simulateWhole({ seed: 3 }, part);
};

const nodes =
  (run: (options: SeedOptions) => Promise<StoreResult>) =>
  async (options: SeedOptions): Promise<Result> => {
    const { seed, violation: what, statements, simulatedMs, counted, reached } = await run(options);
    const violation = what === undefined ? undefined : { requirement: 'N-4', what, at: simulatedMs, lines: [] };
    const calls = counted['messages'] ?? 0;
    return { seed, violation, hash: '', lines: statements, simulatedMs, calls, reached, only: options.only };
  };

/** All worlds, the one without an option first. */
export const worlds: readonly SimulatedKind[] = [
  { option: '', about: 'integrations and sessions over functions', perMillion: 0, chunk: 50, play: simulate },
  {
    option: '--payments',
    about: 'calls whose answers are lost, their reconcile rules, and a gateway that is killed',
    perMillion: 200,
    chunk: 20,
    play: simulatePayments,
  },
  {
    option: '--store',
    about: 'stores of several nodes on one PostgreSQL, whose statements fail and whose connections tear',
    perMillion: 16,
    chunk: 2,
    play: nodes(simulateStore),
  },
  {
    option: '--sessions',
    about: 'sessions of several gateways on one such database, to which messages are sent everywhere',
    perMillion: 16,
    chunk: 2,
    play: nodes(simulateSessions),
  },
  {
    option: '--shared',
    about: 'breakers, rate limits, alerts and events of several nodes on one such database',
    perMillion: 16,
    chunk: 2,
    play: nodes(simulateShared),
  },
  {
    option: '--whole',
    about: 'three parts of a whole gateway on one disk and one machine: MCP servers, commands, proxies, agents …',
    perMillion: 200,
    chunk: 4,
    load: loadParts(Object.keys(partMakers)),
    play: (options) => simulateWhole(options),
  },
  ...Object.keys(partMakers).map(
    (part): SimulatedKind => ({
      option: `--part ${part}`,
      about: `of those parts ${part} alone`,
      perMillion: 0,
      chunk: 4,
      load: loadParts([part]),
      play: (options) => simulateWhole(options, part),
    }),
  ),
];
