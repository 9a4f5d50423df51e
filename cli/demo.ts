import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fault } from '../testing/demo/fault.ts';
import { faultNames } from '../testing/demo/faultNames.ts';
import { faults } from '../testing/demo/faults.ts';
import { runTour } from '../testing/demo/tour.ts';
import type { Logger } from '../src/index.ts';
import { createDemoScreen } from './demoScreen.ts';
import { CommandError, unknown } from './errors.ts';
import type { Io } from './io.ts';
import { StoreUnavailableError } from '../src/store/storeOption.ts';
import { sanitize, toJson } from './sanitize.ts';

/** Arguments of `unwedge demo`. */
interface DemoArgs {
  /** Names of the faults to inject, separated by commas; all without it. */
  readonly only: string | undefined;
  /** Keeps the database for inspection. */
  readonly keep: boolean;
  readonly json: boolean;
  /** A database to record into, which stays in any case. */
  readonly db: string | undefined;
}

/**
 * Runs the fault tour. 0 when every fault ended as it should, else 1; 130 when it was ended by Ctrl-C.
 * @throws UsageError for an unknown fault.
 * @throws CommandError when the database of `--db` cannot be had.
 */
export async function run(args: DemoArgs, io: Io): Promise<number> {
  const chosen = chooseFaults(args.only);
  // Private to this user, as `mkdtemp` makes it.
  const home = mkdtempSync(join(tmpdir(), 'unwedge-demo-'));
  const directory = join(home, 'files');
  mkdirSync(directory);
  const screen = args.json ? undefined : createDemoScreen(io);
  const keeps = args.keep || args.db !== undefined;
  let keep = false;
  try {
    screen?.begin(chosen);
    const report = await runTour({
      faults: chosen,
      store: args.db ?? { path: join(home, 'demo.sqlite'), required: false },
      control: args.db !== undefined,
      directory,
      signal: io.signal,
      onFault: (found) => screen?.fault(found),
      logger: stderrLogger(io),
    });
    const kept = keeps && report.store.kind !== 'memory';
    keep = kept && args.db === undefined && !report.interrupted;
    if (report.interrupted) {
      io.stderr.write(
        `Stopped after ${report.faults.length} of ${chosen.length} faults; ${leftText(report.processes.left)}.\n`,
      );
      return 128 + constants.signals.SIGINT;
    }
    if (args.json) io.stdout.write(toJson({ ...report, store: { ...report.store, kept } }));
    else screen?.end(report, kept);
    return report.ok ? 0 : 1;
  } catch (error) {
    if (error instanceof StoreUnavailableError) throw new CommandError(error.message, { cause: error });
    throw error;
  } finally {
    rmSync(keep ? directory : home, { recursive: true, force: true });
  }
}

function chooseFaults(only: string | undefined): readonly Fault[] {
  if (only === undefined) return faults;
  const wanted = only.split(',').map((name) => name.trim());
  for (const name of wanted) {
    if (!faultNames.some((known) => known === name)) throw unknown('fault', name, faultNames);
  }
  return faults.filter(({ name }) => wanted.includes(name));
}

function leftText(left: readonly number[]): string {
  return left.length === 0 ? 'no process is left' : `had to kill ${left.join(', ')}`;
}

/** Logs what the runtime says of its store. Its words on the faults are on the screen, and meant. */
function stderrLogger({ stderr }: Io): Logger {
  const say = (message: string): void => {
    if (/^(?:Nothing is stored|The store)\b/.test(message)) stderr.write(`unwedge: ${sanitize(message)}\n`);
  };
  return { debug: () => undefined, info: () => undefined, warn: say, error: say };
}
