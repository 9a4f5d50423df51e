import { randomUUID } from 'node:crypto';
import { runProcess } from '../integrations/subprocess/subprocessRun.ts';
import type { ProcessExit } from '../machines/subprocessExit.ts';
import { messageOf } from '../policy/thrown.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { limitOf, type RunCommand, runCommand } from './runCommand.ts';
import { RunOutput } from './runOutput.ts';
import type { RunRecords } from './runRecords.ts';
import type { ManagedRun, RunExit, RunRecord, SpawnInput, TerminationReason } from './supervisorTypes.ts';

/** What the runs of one supervisor share. */
export interface RunScope {
  readonly runtime: Runtime;
  readonly records: RunRecords;
  /** Between SIGTERM and SIGKILL, in ms. */
  readonly graceMs: number;
}

const isTimeout = (reason: TerminationReason): boolean =>
  reason === 'overall-timeout' || reason === 'no-output-timeout';

let runs = 0;

/** One run, from the call of `spawn` to the end of its process tree. */
export class SupervisedRun {
  readonly runId: string;
  readonly scopeKey: string | undefined;
  readonly #input: SpawnInput;
  readonly #records: RunRecords;
  readonly #now: () => number;
  readonly #controller = new AbortController();
  #record: RunRecord;
  #forced: TerminationReason | undefined;
  #exit: RunExit | undefined;

  constructor(input: SpawnInput, records: RunRecords, now: () => number) {
    this.#input = input;
    this.#records = records;
    this.#now = now;
    this.runId = trimmed(input.runId) ?? randomUUID();
    this.scopeKey = trimmed(input.scopeKey);
    const at = now();
    this.#record = {
      runId: this.runId,
      sessionId: input.sessionId,
      backendId: input.backendId,
      ...(this.scopeKey !== undefined && { scopeKey: this.scopeKey }),
      startedAtMs: at,
      lastOutputAtMs: at,
      createdAtMs: at,
      updatedAtMs: at,
      state: 'starting',
    };
    records.add(this.#record);
  }

  readonly cancel = (reason: TerminationReason = 'manual-cancel'): void => {
    if (this.#exit !== undefined) return;
    this.#force(reason);
    this.#controller.abort();
  };

  get sessionId(): string {
    return this.#input.sessionId;
  }

  /**
   * Starts the process. @throws what a callback of the caller threw, or why nothing was started; the run is over then.
   * @param prepared - what comes before.
   */
  async start(scope: RunScope, prepared: Promise<unknown>): Promise<ManagedRun> {
    const input = this.#input;
    let command: RunCommand;
    try {
      await prepared;
      if (this.#forced !== undefined) return this.#notStarted(this.#forced);
      input.assertCurrent?.();
      command = runCommand(input);
      input.beforeSpawn?.();
    } catch (error) {
      this.#ended({ reason: 'spawn-error', exitCode: null, exitSignal: null });
      throw error;
    }
    return this.#run(command, scope);
  }

  async #run({ input, stdin }: RunCommand, { runtime, graceMs }: RunScope): Promise<ManagedRun> {
    const { bus, clock, register } = runtime;
    const output = new RunOutput(this.#input, (error) =>
      bus.tell({ type: 'listener.failed', event: 'process.output', error }),
    );
    let tellStarted: (pid: number) => void = () => undefined;
    const started = new Promise<number>((resolve) => {
      tellStarted = resolve;
    });
    const ended = runProcess(
      runtime,
      {
        id: `run:${this.runId}:${++runs}`,
        graceMs,
        input: {
          ...input,
          graceMs,
          clock,
          calledAs: input.command,
          onOutput: (chunk, stream) => {
            this.#change({ lastOutputAtMs: this.#now() });
            output.hear(chunk, stream);
          },
          register: (child) => {
            const registered = register?.(child);
            return {
              started: (pid) => {
                registered?.started(pid);
                this.#change({ state: 'running', pid, processGroupId: pid });
                tellStarted(pid);
              },
              ended: () => registered?.ended(),
            };
          },
        },
      },
      { signal: this.#controller.signal, touch: () => undefined },
    ).then(
      (exit) => this.#settle(exit, output),
      (error: unknown) => this.#failed(error, output),
    );
    const first = await Promise.race([started, ended]);
    if (typeof first !== 'number') {
      if (first.error !== undefined) throw first.error;
      return this.#managed(undefined, ended, output);
    }
    return { ...this.#managed(first, ended, output), ...(stdin !== undefined && { stdin }) };
  }

  #managed(pid: number | undefined, ended: Promise<Ended>, output: RunOutput | undefined): ManagedRun {
    const { startedAtMs } = this.#record;
    const timeoutMs = limitOf(this.#input.timeoutMs);
    const lastOutputAt = (): number => this.#record.lastOutputAtMs;
    const isSettled = (): boolean => this.#exit !== undefined;
    return {
      runId: this.runId,
      ...(pid !== undefined && { pid }),
      startedAtMs,
      activity: {
        ...(timeoutMs !== undefined && { deadlineAtMs: startedAtMs + timeoutMs }),
        get resultSettled() {
          return isSettled();
        },
        get lastOutputAtMs() {
          return lastOutputAt();
        },
      },
      wait: async () => (await ended).exit,
      waitForExtinction: async () => void (await ended),
      cancel: this.cancel,
      detachOutput: () => output?.detach(),
    };
  }

  #settle(exit: ProcessExit, output: RunOutput): Ended {
    const { stdout, stderr } = output.end();
    const reason = this.#reasonOf(exit);
    if (isTimeout(reason)) this.#force(reason);
    const end = this.#ended({
      reason,
      // Half an answer is none, whatever its program said.
      exitCode: exit.reason === 'output-cut' ? null : (exit.exitCode ?? null),
      exitSignal: exit.signal ?? null,
      ...{ stdout, stderr },
    });
    return reason === 'spawn-error' ? { exit: end, error: exit.error ?? new Error(exit.message) } : { exit: end };
  }

  /** There was no run to end: it was cancelled first, or the supervisor took no child. */
  #failed(error: unknown, output: RunOutput): Ended {
    const reason = this.#forced ?? 'spawn-error';
    const exit = this.#ended({ reason, exitCode: null, exitSignal: null, ...output.end() });
    if (reason !== 'spawn-error') return { exit };
    return { exit, error: error instanceof Error ? error : new Error(messageOf(error)) };
  }

  #notStarted(reason: TerminationReason): ManagedRun {
    const exit = this.#ended({ reason, exitCode: null, exitSignal: null });
    return this.#managed(undefined, Promise.resolve({ exit }), undefined);
  }

  #reasonOf({ reason }: ProcessExit): TerminationReason {
    if (this.#forced !== undefined && reason !== 'spawn-error') return this.#forced;
    // Of a limit on output there is none; what cancels is the runtime that stops, or that gives up the end of the output.
    return reason === 'cancelled' || reason === 'output-limit' || reason === 'output-cut' ? 'manual-cancel' : reason;
  }

  #force(reason: TerminationReason): void {
    if (this.#forced !== undefined) return;
    this.#forced = reason;
    this.#change({ state: 'exiting', terminationReason: reason });
    try {
      this.#input.onCancel?.(reason);
    } catch {
      // The run ends all the same, and its end says why.
    }
  }

  #ended(end: Pick<RunExit, 'reason' | 'exitCode' | 'exitSignal'> & Partial<RunExit>): RunExit {
    const { reason, exitCode, exitSignal } = end;
    const exit: RunExit = {
      ...{ stdout: '', stderr: '', ...end },
      durationMs: Math.max(0, this.#now() - this.#record.startedAtMs),
      timedOut: isTimeout(reason),
      noOutputTimedOut: reason === 'no-output-timeout',
    };
    this.#exit = exit;
    this.#change({ state: 'exited', terminationReason: reason, exitCode, exitSignal });
    return exit;
  }

  #change(change: Partial<RunRecord>): void {
    this.#record = this.#records.change(this.#record, change, this.#now());
  }
}

/** The end of a run; with an error where there never was one. */
interface Ended {
  readonly exit: RunExit;
  readonly error?: unknown;
}

function trimmed(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}
