import { EventEmitter } from 'node:events';
import type { Machine } from './machine.ts';
import { InputPipe, OutputPipe } from './pipe.ts';

/** What a process does from its start on. */
export type Program = (self: SimulatedProgram) => void;

export interface ProcessFacts {
  readonly pid: number;
  readonly group: number;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Digits of its limit on real-time CPU time. */
  readonly limit: string | undefined;
  readonly startTime: number;
}

/** One process of the simulated machine, as its program sees it. */
export class SimulatedProgram {
  readonly facts: ProcessFacts;
  readonly machine: Machine;
  readonly stdin: InputPipe;
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
  /** The child, as its parent has it. */
  readonly handle: EventEmitter;
  parent: number;
  isAlive = true;
  isStopped = false;
  /** Hears lines of its input. */
  onLine: (line: string) => void = () => undefined;
  /** The parent has closed its input. @defaultValue it exits */
  onInputEnd: () => void = () => this.exit(0);
  /** Whether a signal other than SIGKILL is taken care of. @defaultValue none is */
  takes: (signal: string) => boolean = () => false;
  #rest = '';
  #inputEnded = false;
  /** When the last of its output arrives: it arrives in order. */
  #arrivesAt = 0;
  #postponed: (() => void)[] = [];

  constructor(machine: Machine, facts: ProcessFacts, parent: number, inherited?: SimulatedProgram) {
    this.machine = machine;
    this.facts = facts;
    this.parent = parent;
    this.stdin = new InputPipe(
      (chunk) => this.#read(chunk),
      () => this.#inputEnds(),
    );
    this.stdout = inherited?.stdout ?? new OutputPipe();
    this.stderr = inherited?.stderr ?? new OutputPipe();
    inherited?.stdout.share();
    inherited?.stderr.share();
    const { stdin, stdout, stderr } = this;
    this.handle = Object.assign(new EventEmitter(), {
      ...{ pid: facts.pid, stdin, stdout, stderr, stdio: [stdin, stdout, stderr], exitCode: null, signalCode: null },
      ...{ killed: false, connected: false, spawnargs: facts.args, spawnfile: facts.args[0] },
      kill: (signal: NodeJS.Signals = 'SIGTERM') => machine.signal(facts.pid, signal),
      ref: () => undefined,
      unref: () => undefined,
    });
  }

  /** Does something later, unless it has ended by then; one that is stopped does it when it goes on. */
  after(ms: number, work: () => void): void {
    this.machine.clock.setTimeout(() => this.#do(work), ms);
  }

  /** Writes; it arrives soon, in pieces where the machine is at fault. */
  write(text: string, to: 'stdout' | 'stderr' = 'stdout'): void {
    if (!this.isAlive) return;
    for (const piece of this.machine.torn(Buffer.from(text))) {
      const { clock } = this.machine;
      this.#arrivesAt = Math.max(this.#arrivesAt, clock.now()) + this.machine.latencyMs();
      clock.setTimeout(() => {
        if (!this[to].destroyed && !this[to].readableEnded) this[to].push(piece);
      }, this.#arrivesAt - clock.now());
    }
  }

  send(message: object): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  exit(code: number): void {
    this.#end(code, null);
  }

  die(signal: string): void {
    this.#end(null, signal);
  }

  stop(isStopped: boolean): void {
    this.isStopped = isStopped;
    this.stdin.hold(isStopped);
    if (isStopped) return;
    for (const work of this.#postponed.splice(0)) this.#do(work);
    if (this.#inputEnded) this.#do(() => this.onInputEnd());
  }

  #do(work: () => void): void {
    if (!this.isAlive) return;
    if (this.isStopped) this.#postponed.push(work);
    else work();
  }

  #read(chunk: Buffer): void {
    this.machine.clock.setTimeout(() => {
      const lines = (this.#rest + chunk.toString()).split('\n');
      this.#rest = lines.pop() ?? '';
      for (const line of lines) this.#do(() => this.onLine(line));
    }, this.machine.latencyMs());
  }

  #inputEnds(): void {
    if (this.#inputEnded) return;
    this.#inputEnded = true;
    this.after(1, () => this.onInputEnd());
  }

  #end(code: number | null, signal: string | null): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    const { machine, handle } = this;
    machine.ended(this);
    this.stdin.break();
    const left = Math.max(0, this.#arrivesAt - machine.clock.now());
    const exited = (): void => {
      Object.assign(handle, { exitCode: code, signalCode: signal });
      handle.emit('exit', code, signal);
    };
    // What was written before the end is read before the end of the pipe; the exit may be told before or after.
    machine.clock.setTimeout(exited, machine.latencyMs());
    machine.clock.setTimeout(() => {
      this.stdout.leave();
      this.stderr.leave();
    }, left);
    machine.clock.setTimeout(() => handle.emit('close', code, signal), left + 3);
  }
}
