import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { seededRandom } from '../../../testing/index.ts';
import { findAgents, type InstalledAgent, nodeOf } from './agents.ts';
import { acpCell, type Cell } from './cell.ts';
import { type Fault, faults } from './faults.ts';
import { headlessCell } from './headlessCell.ts';
import { idleMs, troubles } from './judge.ts';

/** What is run, and how. */
export interface FireOptions {
  /** A `node_modules` with agents. */
  readonly modules: string;
  /** Program and first words of unwedge; undefined: the agents alone. */
  readonly unwedge: readonly string[] | undefined;
  /** Ways to be run. */
  readonly ways: readonly Cell['way'][];
  readonly modes: readonly Cell['mode'][];
  readonly only: { readonly agents: readonly string[]; readonly faults: readonly string[] };
  readonly patienceMs: number;
  /** Results so far: cells that are in it are not run again. */
  readonly file: string;
  progress(line: string): void;
  /** Runs so many cells that the seed picks among all of them, each anew, in place of each once. @defaultValue each once */
  readonly rounds?: { readonly count: number; readonly seed: number } | undefined;
  /** Cells that are run at once. @defaultValue 2 */
  readonly atOnce?: number;
}

interface Job {
  readonly agent: InstalledAgent;
  readonly fault: Fault;
  readonly mode: Cell['mode'];
  readonly way: Cell['way'];
}

/** Runs the cells that are not in the file yet, and gives all. */
export async function fire(options: FireOptions): Promise<readonly Cell[]> {
  const { modules, only, modes, ways, file, progress } = options;
  const { found, missing } = findAgents(modules);
  for (const name of missing) progress(`${name} is not installed`);
  const jobs = ways.flatMap((way) =>
    modes.flatMap((mode) =>
      faults.flatMap((fault) =>
        found
          .filter(({ tool }) => fault.tool === undefined || tool !== undefined)
          .filter(
            (agent) =>
              (mode === 'acp' ? agent.acp : fault.isHeadless === true ? agent.headless : undefined) !== undefined,
          )
          .map((agent): Job => ({ agent, fault, mode, way })),
      ),
    ),
  );
  const wanted = jobs.filter(
    ({ agent, fault }) =>
      (only.agents.length === 0 || only.agents.includes(agent.name)) &&
      (only.faults.length === 0 || only.faults.includes(fault.name)),
  );
  const cells: Cell[] = existsSync(file) ? [...(JSON.parse(readFileSync(file, 'utf8')) as Cell[])] : [];
  const isThere = ({ agent, fault, mode, way }: Job): boolean =>
    cells.some(
      (cell) =>
        cell.agent === agent.name &&
        cell.version === agent.version &&
        cell.fault === fault.name &&
        cell.mode === mode &&
        cell.way === way,
    );
  const queue = options.rounds === undefined ? wanted.filter((job) => !isThere(job)) : picked(wanted, options.rounds);
  const worker = async (): Promise<void> => {
    for (let job = queue.shift(); job !== undefined; job = queue.shift()) {
      const cell = await runJob(job, options);
      const found = cell.way === 'behind' ? troubles(cell) : [];
      cells.push(cell);
      writeFileSync(file, `${JSON.stringify(cells, null, 1)}\n`);
      progress(
        `${cell.way} ${cell.mode} ${cell.agent}, ${cell.fault}: ${told(cell)}${found.length === 0 ? '' : ` => ${found.join(', ')}`}`,
      );
    }
  };
  await Promise.all(Array.from({ length: options.atOnce ?? 2 }, worker));
  return cells;
}

function picked(jobs: readonly Job[], { count, seed }: NonNullable<FireOptions['rounds']>): Job[] {
  const random = seededRandom(seed);
  return Array.from({ length: count }, () => jobs[Math.floor(random() * jobs.length)] as Job);
}

function runJob({ agent, fault, mode, way }: Job, { modules, patienceMs, unwedge = [] }: FireOptions): Promise<Cell> {
  const node = nodeOf(modules);
  const options = { patienceMs, node };
  if (way === 'bare') return (mode === 'acp' ? acpCell : headlessCell)(agent, fault, { ...options, front: [] });
  if (mode === 'acp')
    return acpCell(agent, fault, {
      ...options,
      front: [...unwedge, 'acp', '--idle-timeout', `${idleMs / 1000}s`, '--'],
    });
  const profile = agent.profile === undefined ? [] : ['--agent', agent.profile];
  return headlessCell(agent, fault, {
    ...options,
    front: [...unwedge, 'run', ...profile, '--no-output-timeout', `${idleMs / 1000}s`, '--'],
  });
}

function told({ broken, prompts, shown, left, exit, next }: Cell): string {
  if (broken !== undefined) return `did not start: ${broken}`;
  const ends = prompts
    .map(({ end, seconds, answers }) => `${end} after ${seconds} s${answers === 1 ? '' : `, ${answers} answers`}`)
    .join('; ');
  return [
    ends,
    `shown ${shown}`,
    ...(exit === undefined ? [] : [exit]),
    ...(next === undefined ? [] : [`next ${next}`]),
    ...(left.length === 0 ? [] : [`left ${left.join(' | ')}`]),
  ].join(', ');
}
