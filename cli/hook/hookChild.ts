import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import {
  type OutputEnd,
  createChildGuard,
  descendants,
  endOfOutput,
  isMarkSeen,
  isYoungestNow,
  killAtExit,
  killMarked,
  killOrphansNow,
  killTreeNow,
  limitFor,
  markName,
  markVariable,
  nextMark,
  polled,
  spawnFailure,
  startMarked,
  terminateTree,
} from '../../src/actors/process/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { type Background, readBackground } from '../../src/protocol/face.ts';
import { lightClock } from '../../src/runtime/face.ts';
import type { HostInput } from './hostInput.ts';
import { ageMs, noteLastWords } from './lastTimer.ts';

/** Bytes of the child's two streams that are held back until its outcome is known; no hook has that much to say. */
const maxOutputBytes = 8 * 1024 * 1024;
/** Bytes that are looked at for the word that the hook goes on in the background. */
const longestAnnouncement = 4096;
/** Time in ms that the output may bring nothing after the exit while another process holds it; and where that process is not seen. */
const quietMs = 100;
const unseenMs = 1000;
/** SIGKILL shows at once, or not for a long time. */
const killMs = 300;
/** Time in ms after which its limit is found out; no host waits for less. */
const armedAfterMs = 20;
/** A hook that runs longer than most gets a guard, which would take longer to start than they run; in ms. */
const guardedAfterMs = 250;

interface HookChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** Limit on the run since this process started, in ms, for what is known of the event and for what the hook itself asks. */
  readonly limitMs: (event: string | undefined, ownMs?: number) => number;
  readonly keepBackground: boolean;
  readonly input: HostInput;
  /** Told when it runs, and when the host's input is known: how long the host waits may be found out now. */
  readonly started?: (() => void) | undefined;
}

/** End of a hook, by itself or not. */
type HookEnd =
  | { readonly how: 'exit'; readonly exitCode: number }
  | { readonly how: 'signal'; readonly signal: string }
  | { readonly how: 'timeout'; readonly limitMs: number }
  | { readonly how: 'flood' }
  | { readonly how: 'spawn'; readonly facts: FailureFacts }
  /** This process was told to end. */
  | { readonly how: 'told'; readonly signal: NodeJS.Signals };

/** Record of a hook that has ended. */
export interface HookRun {
  readonly end: HookEnd;
  /** Output that it wrote and that was not passed on yet. */
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  /** True where the end of its output was given up, as a process that it left behind held it. @defaultValue false */
  readonly isCut?: boolean | undefined;
  /** True where nothing of it was passed on yet. @defaultValue false */
  readonly isQuiet?: boolean | undefined;
}

/** Returns the time in ms that a hook may take to end on SIGTERM. */
function graceMs(limitMs: number): number {
  return Math.min(1000, limitMs / 12);
}

/**
 * Runs the hook to its end, with pipes of its own: the host's input goes in as it comes, the output is held back. Never
 * rejects. When it resolves, the hook and what it left in its group are gone,
 * unless that was to be kept.
 */
export async function runHookChild(options: HookChildOptions): Promise<HookRun> {
  const mark = nextMark(lightClock);
  const env = { ...process.env, [markName]: markVariable(mark) };
  const started = startMarked({ ...options, env }, limitFor(mark), ({ command, args }) =>
    spawn(command, args, { detached: true, stdio: 'pipe', env, windowsHide: true }),
  );
  if ('error' in started) return notStarted(await started.error, options);
  return new HookChild(started.child, started.pid, mark, options).run();
}

function notStarted(error: unknown, options: HookChildOptions): HookRun {
  const end: HookEnd = { how: 'spawn', facts: spawnFailure(error, options) };
  return { end, stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
}

/** A hook that runs. The first reason to end it is kept. */
class HookChild {
  readonly #child: ChildProcess;
  readonly #pid: number;
  readonly #mark: string;
  readonly #options: HookChildOptions;
  readonly #held = { stdout: [] as Buffer[], stderr: [] as Buffer[] };
  #bytes = 0;
  /** Set when it goes on in the background, so that the host has to hear it at once. */
  #background: Background | undefined;
  #end: HookEnd | undefined;
  #limit: NodeJS.Timeout | undefined;
  #exited = false;
  #stop: (end: HookEnd) => void = () => undefined;

  constructor(child: ChildProcess, pid: number, mark: string, options: HookChildOptions) {
    this.#child = child;
    this.#pid = pid;
    this.#mark = mark;
    this.#options = options;
  }

  async run(): Promise<HookRun> {
    const child = this.#child;
    const pid = this.#pid;
    const forget = killAtExit(pid, this.#mark);
    const exited = new Promise<HookEnd>((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exited = true;
        resolve(signal === null ? { how: 'exit', exitCode: code ?? 0 } : { how: 'signal', signal });
      });
    });
    const stopped = new Promise<HookEnd>((resolve) => {
      this.#stop = resolve;
    });
    const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
    this.#hearSignals();
    if (child.stdin !== null) this.#options.input.passTo(child.stdin);
    void this.#options.input.ended.then(() => {
      // Before that it is on its way anyway.
      if (this.#limit === undefined) return;
      this.#arm();
      this.#options.started?.();
    });
    this.#holdOutput();
    noteLastWords({ kill: () => this.#killNow(pid) });
    // Most are over before, and what their host's settings say is not read.
    const armed = setTimeout(() => {
      this.#arm();
      this.#options.started?.();
    }, armedAfterMs);

    const guard = createChildGuard(undefined);
    const guarded = setTimeout(() => {
      guard.raise();
      guard.watch(pid);
    }, guardedAfterMs);
    let end = await Promise.race([exited, stopped]);
    for (const timer of [armed, guarded]) clearTimeout(timer);
    let isCut = false;
    if (this.#exited) {
      // Within the limit, too: what it left behind may write without end.
      const rest = await Promise.race([this.#drain(closed), stopped]);
      isCut = rest !== 'ended';
      if (typeof rest !== 'string' && rest.how !== 'timeout') end = rest;
    }
    this.#end = end;
    clearTimeout(this.#limit);
    if (!this.#exited) await this.#terminate(pid, exited);
    if (!this.#options.keepBackground) await this.#endRest(pid);
    guard.release();
    forget();
    return {
      end,
      stdout: Buffer.concat(this.#held.stdout),
      stderr: Buffer.concat(this.#held.stderr),
      // A hook that was to be kept in the background may hold anything.
      isCut: isCut && !this.#options.keepBackground && this.#background === undefined,
      isQuiet: this.#background === undefined,
    };
  }

  #hearSignals(): void {
    let told = false;
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.on(signal, () => {
        if (!told && this.#end === undefined) {
          told = true;
          this.#stop({ how: 'told', signal });
          return;
        }
        // Told twice, or while it is being ended already: at once, and what still runs with it (killAtExit).
        process.exit(128 + constants.signals[signal]);
      });
    }
  }

  #holdOutput(): void {
    for (const stream of ['stdout', 'stderr'] as const) {
      const source = this.#child[stream];
      source?.on('error', () => undefined);
      source?.on('data', (chunk: Buffer) => {
        this.#bytes += chunk.length;
        if (this.#bytes > maxOutputBytes) {
          source.destroy();
          this.#stop({ how: 'flood' });
        } else if (this.#background !== undefined) process[stream].write(chunk);
        else {
          this.#held[stream].push(chunk);
          if (stream === 'stdout' && this.#bytes <= longestAnnouncement) this.#lookForBackground();
        }
      });
    }
  }

  /** A host that is told so in the first line stops waiting: it must hear it now. */
  #lookForBackground(): void {
    this.#background = readBackground(Buffer.concat(this.#held.stdout).toString('utf8'));
    if (this.#background === undefined) return;
    this.#arm();
    for (const stream of ['stdout', 'stderr'] as const) {
      process[stream].on('error', () => undefined);
      for (const chunk of this.#held[stream].splice(0)) process[stream].write(chunk);
    }
  }

  get #limitMs(): number {
    return this.#options.limitMs(this.#options.input.said?.event, this.#background?.limitMs);
  }

  /** The time this process took to start counts too: the host has waited for it. */
  #arm(): void {
    clearTimeout(this.#limit);
    if (this.#end !== undefined) return;
    const limitMs = this.#limitMs;
    const fire = (): void => {
      // Output already in the pipes is read before the judgement: the loop may have been blocked.
      void polled(lightClock).then(() => this.#stop({ how: 'timeout', limitMs }));
    };
    this.#limit = systemTimeout(fire, Math.max(0, limitMs - ageMs()));
  }

  #drain(closed: Promise<void>): Promise<OutputEnd> {
    const atExit = this.#bytes;
    return endOfOutput({
      clock: lightClock,
      ended: closed,
      bytes: () => this.#bytes - atExit,
      isHeld: async () => (await descendants(this.#pid)).length > 0 || isMarkSeen(this.#mark),
      quietMs,
      unseenMs,
    });
  }

  /** For the end of this process that cannot wait; what is in sessions of its own is left to the guard. */
  #killNow(pid: number): void {
    if (this.#exited) return;
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended in the meantime.
    }
  }

  /** Ends the rest in its group at once, and that in sessions of their own within a short time. */
  async #endRest(pid: number): Promise<void> {
    killOrphansNow(pid);
    if (isYoungestNow(pid)) return;
    await Promise.race([killMarked(this.#mark), new Promise<void>((resolve) => void setTimeout(resolve, killMs))]);
  }

  async #terminate(pid: number, exited: Promise<unknown>): Promise<void> {
    const grace = graceMs(this.#limitMs);
    const gone = terminateTree(pid, { graceMs: grace, clock: lightClock, exited }).then(() => killMarked(this.#mark));
    const late = new Promise<void>((resolve) => void setTimeout(resolve, grace + killMs));
    await Promise.race([gone, late]);
    if (!this.#exited) killTreeNow(pid);
  }
}

/** Node fires a timer of 2^31 ms or more at once. */
function systemTimeout(callback: () => void, delayMs: number): NodeJS.Timeout {
  return setTimeout(callback, Math.min(delayMs, 2 ** 31 - 1));
}
