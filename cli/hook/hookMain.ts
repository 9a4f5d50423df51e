import { polled } from '../../src/actors/process/face.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { blockExitCode, hookHostMs, hookLimitMs } from '../../src/protocol/face.ts';
import type { SpinningChoice } from '../../src/policy/spinning/face.ts';
import type { HookInput } from './hostInput.ts';
import { lightClock } from '../../src/runtime/face.ts';
import { KnownSecrets, createTextRedactor } from '../../src/redaction/face.ts';
import { storePath } from '../../src/store/face.ts';
import { UsageError } from '../errors.ts';
import { sanitize } from '../sanitize.ts';
import { type HookArgs, readHookArgs } from './hookArgs.ts';
import { runHookChild } from './hookChild.ts';
import { createHookCircuit } from './hookCircuit.ts';
import { failureExitCode, judgeHook } from './hookOutcome.ts';
import { type HostInput, readHostInput } from './hostInput.ts';
import { type HostTimeout, readHostTimeout } from './hostTimeout.ts';
import {
  ageMs,
  armLastTimer,
  asksToBlock,
  disarmLastTimer,
  endUnlessTimeFor,
  noteLastWords,
  slowness,
} from './lastTimer.ts';

/** Time in ms that the host's input is waited for when the hook has ended or is not run. */
const inputMs = 500;
/** Its hosts wait the least. */
const shortestEvent = 'SessionEnd';
/** Time in ms that the store may take in any case: the rest of the 1.5 s of SessionEnd after a hook's whole limit and its end. */
const leastStoreMs = 150;
/** Time that a lock of another process is worth waiting for, in ms of an idle machine. */
const mostStoreMs = 2000;
/** Time of a processor that opening it takes, and the end of the process after it, in ms. */
const storeCpuMs = 120;
/** Time that the start of a hook's process takes, in ms of a processor. */
const startingCpuMs = 40;
/** Time in ms that a host that does not read may keep this process in any case. */
const flushMs = 2000;

/**
 * `unwedge hook`: everything from the words after it to the end of this process. Loads neither XState nor zod, and the store
 * only when there is something to read or to write.
 */
export async function hookMain(words: readonly string[]): Promise<void> {
  const misuseCode = asksToBlock(words) ? blockExitCode : 1;
  try {
    const args = readHookArgs(words);
    if (args === undefined) return await printHelp(words);
    failOpen(args);
    const { spinning } = args;
    const exitCode = await (spinning ? runGuard(args, spinning) : runHook(args));
    disarmLastTimer();
    process.exit(exitCode);
  } catch (error) {
    const text = error instanceof UsageError ? error.message : String(error);
    await write('stderr', `unwedge: ${sanitize(text)}\n`);
    process.exit(misuseCode);
  }
}

async function printHelp(words: readonly string[]): Promise<void> {
  disarmLastTimer();
  const [{ commandHelp }, { loadCommand }] = await Promise.all([import('../help.ts'), import('../commands.ts')]);
  const style = { json: words.includes('--json'), columns: process.stdout.columns || Infinity };
  await write('stdout', commandHelp(await loadCommand('hook'), style));
}

/** A bug of ours must not decide over what the hook was asked about. */
function failOpen({ name, onFailure }: HookArgs): void {
  process.on('uncaughtException', (error) => {
    const exitCode = failureExitCode(onFailure, undefined);
    void write('stderr', line(name, `It could not be supervised: ${String(error)}`, exitCode)).then(() =>
      process.exit(exitCode),
    );
  });
}

async function runHook(args: HookArgs): Promise<number> {
  const limits = createHookLimits(args, process.env);
  // Later it would count the time of the hook, too.
  const startSlowness = slowness();
  const input = readHostInput();
  noteLastWords({
    name: sanitize(args.name),
    exitCode: () => failureExitCode(args.onFailure, input.said?.event),
  });
  const circuit = createHookCircuit({
    name: args.name,
    database: storePath(args.db, process.env),
    budgetMs() {
      const leftMs = limits.whole(input.said?.event ?? shortestEvent) - ageMs();
      // Work that is begun blocks: a guard is to decline in time, on record or not.
      if (args.onFailure === 'block' && leftMs < slowness() * storeCpuMs) return 0;
      return Math.min(mostStoreMs * startSlowness, Math.max(leastStoreMs, leftMs - leastStoreMs));
    },
  });
  // The host's settings are read while the hook runs already.
  const admission = await circuit.admit(() => limits.run(''));
  if (!admission.admitted) {
    const about = await saidSoon(input);
    const exitCode = failureExitCode(args.onFailure, about?.event);
    const wait = formatDuration(Math.ceil(admission.retryAfterMs / 1000) * 1000);
    await write('stderr', line(args.name, `It failed too often and is not run for ${wait}`, exitCode));
    return exitCode;
  }
  const watch = (): void => {
    if (args.onFailure === 'block') armLastTimer(limits.whole(input.said?.event));
  };
  endUnlessTimeFor(startingCpuMs);
  const run = await runHookChild({ ...args, limitMs: limits.run, input, started: watch });
  const outcome = judgeHook(run, args.onFailure);
  if (outcome.is !== 'failed') {
    return passOn(outcome, args.inbox && outcome.exitCode === 0 ? await answeredByPeople() : run.stdout);
  }
  const { failure } = outcome;
  // A hook may fail before its input was read; one that hung has had the time.
  const about = run.end.how === 'timeout' ? input.said : await saidSoon(input);
  const exitCode = failureExitCode(args.onFailure, about?.event);
  // A host whose guard may not decline is to hear of the failure what the guard said.
  if (failure.exitCode !== undefined && exitCode !== blockExitCode)
    return passOn({ is: 'answered', exitCode: failure.exitCode });
  // Threads of libuv load the driver of the store, and libuv aborts this process where it gets none; a probe has opened it already.
  const isThreadless = run.end.how === 'spawn' && run.end.facts.code === 'EAGAIN' && !('probe' in admission);
  const trouble = isThreadless ? 'no thread may be started' : await circuit.failed(failure, about, admission);
  const text = trouble === undefined ? failure.message : `${failure.message} (not recorded: ${trouble})`;
  await write('stderr', line(args.name, withoutSecrets(text), exitCode));
  return exitCode;

  /** Output of the hook, or the answer of people where it says `ask`: declined while the host still waits. */
  async function answeredByPeople(): Promise<Buffer> {
    const said = await saidSoon(input);
    if (said === undefined || !run.stdout.includes('ask')) return run.stdout;
    const database = storePath(args.db, process.env);
    const leftMs = limits.run(said.event) - ageMs();
    const asking = {
      ...{ name: args.name, leftMs },
      circuit: (budgetMs: number) => createHookCircuit({ name: args.name, database, budgetMs: () => budgetMs }),
    };
    return (await (await import('./askedPerson.ts')).askedPerson(asking, run.stdout, said)) ?? run.stdout;
  }

  async function passOn(
    { is, exitCode: code }: { is: 'answered' | 'ignored'; exitCode: number },
    stdout = run.stdout,
  ): Promise<number> {
    // The host waits for what the hook says as long as for the hook: half an answer would be another one.
    const limitMs = (): number => Math.max(flushMs, limits.run(input.said?.event) - lightClock.now());
    // A stream that nothing is to be written to is not so much as made, unless the hook went on in the background and wrote to it.
    const written = async (name: 'stdout' | 'stderr', data: Buffer): Promise<boolean> =>
      (run.isQuiet && data.length === 0) || writeOut(process[name], data, limitMs());
    const [isHeard, mayComplain] = await Promise.all([written('stdout', stdout), written('stderr', run.stderr)]);
    await circuit[is](admission);
    if (isHeard && mayComplain) return code;
    const lateCode = code || failureExitCode(args.onFailure, input.said?.event);
    // A host that has not read stderr for all that time will not read it now.
    if (mayComplain) await write('stderr', line(args.name, 'Its output could not be passed on in full', lateCode));
    return lateCode;
  }
}

/** The guard against repetition: an answer in JSON, or none. Whatever goes wrong with it, the host goes on. */
async function runGuard(args: HookArgs, spinning: SpinningChoice): Promise<number> {
  const { timeoutMs = Infinity, hostTimeoutMs, db, name } = args;
  const limitMs = Math.min(timeoutMs, hookLimitMs(undefined, hostTimeoutMs));
  const database = storePath(db, process.env);
  const budgetMs = (): number => Math.min(mostStoreMs * slowness(), limitMs - ageMs());
  const { use, trouble } = createHookCircuit({ name, database, budgetMs });
  const said = await saidSoon(readHostInput(), limitMs);
  const { guardSpinning } = await import('./spinningGuard.ts');
  const answer = said && (await guardSpinning(spinning, database, use, said));
  if (answer !== undefined) await write('stdout', JSON.stringify(answer));
  const why = database === ':memory:' ? 'no database is kept of what was answered (UNWEDGE_DB)' : trouble();
  if (why !== undefined && spinning !== 'off') await write('stderr', line(name, `It did not judge: ${why}`, 0));
  return 0;
}

/** Returns the input of the host, if it comes at once. */
async function saidSoon(input: HostInput, limitMs = inputMs): Promise<HookInput | undefined> {
  input.drop();
  // A machine that is busy is no host that says nothing: only time counts in which this process listened.
  await inTime(input.ended, { clock: lightClock, limitMs, running: true });
  await polled(lightClock);
  return input.said;
}

/** The message may quote the hook. What redacts is not loaded for it: a process that is short of files could not say what is wrong. */
function withoutSecrets(text: string): string {
  return createTextRedactor(new KnownSecrets(process.env)).text(text);
}

function line(name: string, message: string, exitCode: number): string {
  const consequence = exitCode === blockExitCode ? 'it is a guard, so this is declined' : 'going on without it';
  return `unwedge: hook ${sanitize(name)}: ${sanitize(message).replace(/\.$/, '')}; ${consequence}\n`;
}

/** A word of ours, for which a host that does not read is not waited for long. */
async function write(name: 'stdout' | 'stderr', text: string): Promise<void> {
  await writeOut(process[name], text, flushMs);
}

/**
 * Limits of time, in ms since this process started: its host has waited since then.
 * The host's own limit comes from `--host-timeout`, else from its settings, else it is taken to be the usual one of the event.
 */
export function createHookLimits(
  args: Pick<HookArgs, 'command' | 'timeoutMs' | 'hostTimeoutMs'>,
  env: NodeJS.ProcessEnv,
) {
  const { timeoutMs, hostTimeoutMs } = args;
  const ofHost: HostTimeout = hostTimeoutMs === undefined ? readHostTimeout(args, env) : () => hostTimeoutMs;
  return {
    /** Returns that of the run. @param ownMs - what the hook itself asked for. */
    run: (event: string | undefined, ownMs?: number): number => {
      const hostMs = ofHost(event);
      const asked = timeoutMs ?? ownMs;
      if (asked === undefined) return hookLimitMs(event, hostMs);
      // A guard that is ended by its host has not declined.
      return hostMs === undefined ? asked : Math.min(asked, hookLimitMs(event, hostMs));
    },
    /** Returns that of this process: then the host ends it, or goes on without it. */
    whole: (event: string | undefined): number => ofHost(event) ?? hookHostMs(event),
  };
}

/** A stream of this process, as far as it is written to. */
type HookStream = Pick<NodeJS.WriteStream, 'write' | 'once' | 'writableLength'>;

/** The reader of a file would take a part for the whole. */
const notKept: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO']);

/**
 * Writes, and waits until all that was written is on its way.
 * @param limitMs - how long a host that does not read may keep this process.
 * @returns true when it is written, or no reader is left; false when the reader did not read it, or there is no
 * room for it.
 */
export function writeOut(
  stream: HookStream,
  data: string | Uint8Array,
  limitMs: number,
  clock: Pick<Clock, 'setTimeout' | 'clearTimeout'> = lightClock,
): Promise<boolean> {
  // Output from before, while the hook went on in the background, may still wait.
  if (data.length === 0 && stream.writableLength === 0) return Promise.resolve(true);
  return new Promise((resolve) => {
    const late = clock.setTimeout(() => resolve(false), limitMs, { ref: true });
    const done = (error?: NodeJS.ErrnoException | null): void => {
      clock.clearTimeout(late);
      resolve(!notKept.has(error?.code));
    };
    stream.once('error', done);
    stream.write(data, done);
  });
}
