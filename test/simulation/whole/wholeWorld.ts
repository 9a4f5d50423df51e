import type { Fact } from '../../../src/policy/facts/facts.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';
import type { Chance } from '../chance.ts';
import { Judge } from '../judge.ts';
import { Machine } from '../machine/machine.ts';
import { onMachine } from '../machine/patchSystem.ts';
import type { Program } from '../machine/simulatedProgram.ts';
import { PlannedChance } from '../plan.ts';
import { createTrace, type Trace } from '../trace.ts';
import { Asked } from './asked.ts';
import { SimulatedDisk } from './disk.ts';
import { Host } from './host.ts';
import type { Part, PartMaker } from './part.ts';

export interface WholeOptions {
  readonly seed: number;
  readonly heard?: ((line: string) => void) | undefined;
  readonly only?: readonly number[] | undefined;
}

/** Longest orderly stop of a gateway, in ms. */
const longestStopMs = 60_000;

/** A gateway that is killed and started again, on a disk and a machine that go wrong, and all that is asked of it. */
export class WholeWorld {
  readonly seed: number;
  readonly planned: PlannedChance;
  readonly chance: Chance;
  readonly clock = new SimulatedClock();
  readonly trace: Trace;
  readonly judge: Judge;
  readonly machine: Machine;
  readonly disk: SimulatedDisk;
  readonly asked: Asked;
  readonly parts: readonly Part[];
  readonly listeners: ((fact: Fact) => void)[] = [];
  host: Host | undefined = undefined;
  calls = 0;
  /** Once all faults have stopped. */
  calm = false;
  readonly #killsInMidStep: number;
  #lives = 0;
  #stopDue = Number.POSITIVE_INFINITY;

  constructor({ seed, heard }: WholeOptions, makers: readonly PartMaker[]) {
    this.seed = seed;
    this.planned = new PlannedChance(seed);
    this.chance = this.planned.chance;
    this.trace = createTrace(() => this.clock.now(), heard);
    this.judge = new Judge(this.clock, this.trace);
    const programs: Record<string, Program> = {};
    this.machine = new Machine(this.clock, this.chance, programs);
    onMachine(this.machine);
    this.disk = new SimulatedDisk(this);
    this.asked = new Asked(this);
    this.#killsInMidStep = this.chance.happens(0.6) ? 0 : this.chance.span(1, 20) / 10_000;
    for (const { programs: more } of makers) Object.assign(programs, more?.(this));
    this.parts = makers.map(({ make }) => make(this));
  }

  /** A host of parts that takes what is asked of it now; undefined where there is none. */
  get open(): Host | undefined {
    return this.host?.isRunning === true ? this.host : undefined;
  }

  start(): void {
    if (this.host !== undefined) return;
    this.machine.newHost();
    const host = new Host(this, ++this.#lives);
    this.host = host;
    this.trace.note(`the gateway starts (${host.number})`);
    for (const part of this.parts) part.declare(host);
    host.start();
  }

  crossing(): void {
    if (!this.calm && this.chance.happens(this.#killsInMidStep)) this.kill();
  }

  kill(): void {
    const { host } = this;
    if (host === undefined) return;
    this.trace.note('the gateway is killed');
    host.kill();
    const recorded = new Set(this.disk.rows('SELECT pid FROM unwedge_children').map(({ pid }) => Number(pid)));
    this.machine.hostDied((pid) => recorded.has(pid));
    this.#leave();
  }

  /** The machine loses its power, in the middle of whatever the gateway does. */
  cutPower(): void {
    this.kill();
    for (const { facts } of [...this.machine.processes.values()]) this.machine.signal(facts.pid, 'SIGKILL');
    this.disk.cutPower();
  }

  stop(): void {
    const { host } = this;
    if (host === undefined || !host.isRunning) return;
    this.trace.note('the gateway stops');
    this.#stopDue = this.clock.now() + longestStopMs;
    void host.stop().then(() => this.#stopped(host));
  }

  stall(ms: number): void {
    this.clock.stall(ms);
    this.judge.resumed(ms);
  }

  check(): void {
    this.asked.check();
    for (const part of this.parts) part.check?.();
    this.judge.expect(!this.judge.overdue(this.#stopDue), 'I-3', () => 'the stop is not over');
  }

  /** All faults stop, and a gateway runs. */
  calmDown(): void {
    this.trace.note('all faults stop');
    this.calm = true;
    this.machine.isFaulty = false;
    this.disk.mood = 'well';
    for (const { facts } of [...this.machine.processes.values()]) this.machine.signal(facts.pid, 'SIGCONT');
    for (const part of this.parts) part.calmDown?.();
  }

  #stopped(host: Host): void {
    if (!host.isAlive) return;
    const { judge, machine, asked } = this;
    this.trace.note('the gateway has stopped');
    judge.expect(asked.size === 0, 'I-1', () => 'something that was asked has not ended after the stop');
    const left = machine.ofHost();
    judge.expect(left.length === 0, 'I-3', () => `${left[0]?.facts.args.join(' ')} is left after the stop`);
    this.#leave();
    this.clock.setTimeout(() => {
      const { pending } = host.watched;
      judge.expect(pending === 0, 'I-3', () => `${pending} timers are left after the stop`);
      host.kill();
    }, 1000);
  }

  /** Nobody waits for the host any more. */
  #leave(): void {
    this.host = undefined;
    this.#stopDue = Number.POSITIVE_INFINITY;
    this.asked.forget();
    for (const part of this.parts) part.killed?.();
  }
}
