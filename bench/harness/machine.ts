import { availableParallelism, cpus, loadavg, release, type } from 'node:os';
import { peerVersions } from '../peers/load.ts';

/** Surroundings that figures depend on, beside the code. */
export interface Machine {
  readonly node: string;
  readonly system: string;
  readonly cpu: string;
  readonly cores: number;
  /** Processes that run or wait to, on average over the last minute: on a quiet machine one before a run, and two within. */
  readonly load: number;
  /** Versions of those compared that are installed, by name. */
  readonly peers: Readonly<Record<string, string>>;
}

/** The machine of this process, at the moment. */
export function thisMachine(): Machine {
  return {
    node: process.version,
    system: `${type()} ${release()}`,
    cpu: cpus()[0]?.model.trim() ?? 'an unknown processor',
    cores: availableParallelism(),
    load: loadavg()[0] ?? 0,
    peers: peerVersions(),
  };
}

/** The machine in two lines for people. */
export function machineText({ node, system, cpu, cores, load, peers }: Machine): string {
  const versions = Object.entries(peers).map(([name, version]) => `${name} ${version}`);
  return `Measured on ${cores} cores of ${cpu}, ${system}, Node ${node}, load ${load.toFixed(1)}\nbeside ${versions.join(', ')}\n`;
}
