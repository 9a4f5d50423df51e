import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { EventEmitter } from 'node:events';
import type { SimulatedClock } from '../../../testing/simulatedClock.ts';
import type { Chance } from '../chance.ts';
import { InputPipe, OutputPipe } from './pipe.ts';
import { type Program, SimulatedProgram } from './simulatedProgram.ts';

/** Above what any system gives out, so that a pid of the simulation is nobody's. */
export const lowestPid = 10_000_000;

/** The processes of a machine: they are started, signalled and listed as the system's are, on simulated time. */
export class Machine {
  readonly clock: SimulatedClock;
  readonly chance: Chance;
  /** Whether it goes wrong now and then. */
  isFaulty = true;
  readonly processes = new Map<number, SimulatedProgram>();
  /** Programs that are run by other processes than the host. */
  readonly beside = new Set<string>();
  readonly #programs: Readonly<Record<string, Program>>;
  /** Start time of the host's process. Each life has another, an earlier one: the lives share the nonce of their marks, by which younger processes alone are looked at. */
  hostStart = 10_000;
  #lastPid = lowestPid;
  #ticks = 10_000;

  constructor(clock: SimulatedClock, chance: Chance, programs: Readonly<Record<string, Program>>) {
    this.clock = clock;
    this.chance = chance;
    this.#programs = programs;
  }

  /** Another life of the host begins. */
  newHost(): void {
    this.hostStart--;
  }

  /** Starts the program that the arguments name; a machine at fault refuses now and then. */
  spawn(command: string, given: readonly string[], options: SpawnOptions): ChildProcess {
    const end = given.indexOf('--');
    const limit = /--rttime=(\d+):/.exec(given[0] ?? '')?.[1];
    const args = limit === undefined ? [command, ...given] : given.slice(end + 1);
    const name = args.find((word) => word.startsWith('sim:')) ?? '';
    const program = this.#programs[name];
    const refusal = program === undefined ? 'ENOENT' : this.#refusal();
    if (refusal !== undefined || program === undefined) return refused(command, refusal ?? 'ENOENT');
    const mark = { UNWEDGE_RUN: options.env?.['UNWEDGE_RUN'] };
    return this.#start(program, args, mark, limit, process.pid, undefined).handle as unknown as ChildProcess;
  }

  /** A process starts another one, which inherits what it has, in its group or in a session of its own. */
  fork(parent: SimulatedProgram, program: Program, isOwnSession: boolean): SimulatedProgram {
    const { args, env, limit, pid } = parent.facts;
    return this.#start(program, args, env, limit, pid, parent, isOwnSession ? undefined : parent.facts.group);
  }

  /** @returns whether somebody was there; a negative pid is a group. */
  signal(pid: number, signal: NodeJS.Signals | 0): boolean {
    const all = [...this.processes.values()];
    const those = all.filter(({ facts }) => (pid < 0 ? facts.group === -pid : facts.pid === pid));
    for (const one of those) this.#deliver(one, signal);
    return those.length > 0;
  }

  /** A process has ended: its children are those of init. */
  ended({ facts }: SimulatedProgram): void {
    this.processes.delete(facts.pid);
    for (const other of this.processes.values()) if (other.parent === facts.pid) other.parent = 1;
  }

  /**
   * The host's process is gone: its ends of the pipes are closed, and it hears nothing more. A guard ends the rest within 2 s, as S-8 has it.
   * @param isRecorded - children that are left to the next start of the host, by their pids.
   */
  hostDied(isRecorded: (pid: number) => boolean): void {
    for (const child of this.ofHost()) {
      if (!isRecorded(child.facts.pid)) this.#guard(child.facts.env['UNWEDGE_RUN']);
      child.parent = 1;
      child.handle.removeAllListeners();
      for (const pipe of [child.stdout, child.stderr]) pipe.removeAllListeners('data').resume();
      child.stdin.destroy();
    }
  }

  /** Children of the host. */
  ofHost(): readonly SimulatedProgram[] {
    const all = [...this.processes.values()];
    return all.filter(
      ({ parent, facts }) => parent === process.pid && !facts.args.some((word) => this.beside.has(word)),
    );
  }

  #guard(mark: string | undefined): void {
    this.clock.setTimeout(() => {
      for (const { facts } of [...this.processes.values()])
        if (facts.env['UNWEDGE_RUN'] === mark) this.signal(facts.pid, 'SIGKILL');
    }, 2000);
  }

  latencyMs(): number {
    return this.isFaulty && this.chance.happens(0.05) ? this.chance.span(1, 300) : 0;
  }

  /** Pieces in which a chunk arrives. */
  torn(chunk: Buffer): readonly Buffer[] {
    if (!this.isFaulty || chunk.length < 2 || !this.chance.happens(0.15)) return [chunk];
    const at = this.chance.integer(1, chunk.length - 1);
    return [chunk.subarray(0, at), chunk.subarray(at)];
  }

  #refusal(): string | undefined {
    return this.isFaulty && this.chance.happens(0.04) ? this.chance.pick(['EAGAIN', 'ENOMEM', 'EMFILE']) : undefined;
  }

  #start(
    program: Program,
    args: readonly string[],
    env: Readonly<Record<string, string | undefined>>,
    limit: string | undefined,
    parent: number,
    inherited: SimulatedProgram | undefined,
    group?: number,
  ): SimulatedProgram {
    const pid = ++this.#lastPid;
    const facts = { pid, group: group ?? pid, args, env, limit, startTime: ++this.#ticks };
    const started = new SimulatedProgram(this, facts, parent, inherited);
    this.processes.set(pid, started);
    process.nextTick(() => started.handle.emit('spawn'));
    program(started);
    return started;
  }

  #deliver(one: SimulatedProgram, signal: NodeJS.Signals | 0): void {
    if (signal === 0) return;
    if (signal === 'SIGKILL') one.die(signal);
    else if (signal === 'SIGSTOP') one.stop(true);
    else if (signal === 'SIGCONT') one.stop(false);
    else if (one.isStopped) one.after(0, () => this.#deliver(one, signal));
    else if (!one.takes(signal)) one.die(signal);
  }
}

/** A process that could not be started: it has no pid, and says so in the next turn. */
function refused(command: string, code: string): ChildProcess {
  const error = Object.assign(new Error(`spawn ${command} ${code}`), {
    code,
    syscall: `spawn ${command}`,
    path: command,
  });
  const [stdin, stdout, stderr] = [
    new InputPipe(
      () => undefined,
      () => undefined,
    ),
    new OutputPipe(),
    new OutputPipe(),
  ];
  const handle = Object.assign(new EventEmitter(), {
    ...{ pid: undefined, stdin, stdout, stderr, stdio: [stdin, stdout, stderr], exitCode: null, signalCode: null },
    ...{ killed: false, kill: () => false, ref: () => undefined, unref: () => undefined },
  });
  process.nextTick(() => {
    handle.emit('error', error);
    stdout.leave();
    stderr.leave();
  });
  return handle as unknown as ChildProcess;
}
