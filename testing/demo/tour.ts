import { createGateway, type GatewayOptions, type Logger, systemClock } from '../../src/index.ts';
import { faultyUpstream } from '../faultyUpstream.ts';
import type { Fault, LaneName, Stage } from './fault.ts';
import { httpScript } from './httpFaults.ts';
import { createLane, type Lane } from './lane.ts';
import type { MessageTally } from './messageLog.ts';
import { declareNotes } from './notes.ts';
import { overdue, within } from './pause.ts';
import { ProcessLog } from './processLog.ts';
import type { FaultReport, TourReport } from './report.ts';
import { startWsUpstream } from './wsUpstream.ts';

interface TourOptions {
  /** In the order of their injection within each lane. */
  readonly faults: readonly Fault[];
  /** SQLite file that records it. */
  readonly store: GatewayOptions['store'];
  /** Lets commands of the same user reach it. @defaultValue false */
  readonly control?: boolean | undefined;
  /** For the files of the tour; private, and its owner removes it. */
  readonly directory: string;
  /** Ends the tour early, in order. */
  readonly signal: AbortSignal;
  /** Told of each fault when its session has come out of it. */
  readonly onFault?: ((report: FaultReport) => void) | undefined;
  readonly logger?: Logger | undefined;
}

/** Time in ms that everything may take to stop. */
const stopMs = 20_000;

/** Injects faults into real counterparties of a gateway, lane by lane side by side, and looks at what came of it. */
export async function runTour(options: TourOptions): Promise<TourReport> {
  const { faults, directory, signal } = options;
  const startedAt = systemClock.now();
  // The directory of its socket would stay, where a tour nobody has to reach promises to leave nothing.
  const control = options.control ?? false;
  const gateway = createGateway({ store: options.store, logger: options.logger, control });
  const processes = new ProcessLog(gateway);
  await processes.begin();
  const http = await faultyUpstream(httpScript);
  const ws = await startWsUpstream().catch(async (error: unknown) => {
    await http.close();
    throw error;
  });
  const stage: Stage = { gateway, http, ws, processes, directory, signal };
  const reports: FaultReport[] = [];
  let lanes: readonly Lane[] = [];
  let stopped: Promise<boolean> | undefined;
  const stop = (): Promise<boolean> => (stopped ??= within(gateway.stop(), stopMs).then((end) => end !== overdue));
  const abort = (): void => void stop();

  signal.addEventListener('abort', abort, { once: true });
  try {
    lanes = declareAll(stage, faults);
    if (!signal.aborted) await gateway.start();
    // Stopped before there was anything to stop, a session would wait for its messages to be taken.
    const open = signal.aborted ? [] : lanes;
    await Promise.all(
      open.map((lane) =>
        lane.run((report) => {
          reports.push(report);
          options.onFault?.(report);
        }),
      ),
    );
  } finally {
    signal.removeEventListener('abort', abort);
    await stop();
    await Promise.all([http.close(), ws.close()]);
  }

  const left = await processes.left();
  for (const pid of left) kill(pid);
  const messages = total(lanes.map(({ tally }) => tally));
  const problems = [
    ...lanes.flatMap((lane) => lane.problems),
    ...(faults.some(retries) && messages.duringRetries === 0 ? ['no heartbeat was sent during a retry'] : []),
    ...((await stop()) ? [] : [`the gateway did not stop within ${stopMs / 1000}s`]),
    ...(left.length === 0 ? [] : [`still alive: ${left.join(', ')}`]),
  ];
  return {
    ok: reports.length === faults.length && reports.every(({ ok }) => ok) && problems.length === 0,
    interrupted: signal.aborted,
    elapsedMs: Math.round(systemClock.now() - startedAt),
    faults: inOrder(reports, faults),
    sessions: lanes.length,
    messages,
    processes: { started: processes.count, left },
    store: { kind: gateway.store?.kind ?? 'none', path: gateway.store?.path ?? 'none' },
    problems,
  };
}

function declareAll(stage: Stage, faults: readonly Fault[]): Lane[] {
  declareNotes(stage.gateway);
  for (const declare of new Set(faults.map((fault) => fault.declare))) declare(stage);
  const names = new Set<LaneName>(faults.map(({ lane }) => lane));
  return [...names].map((name) =>
    createLane(
      stage,
      name,
      faults.filter(({ lane }) => lane === name),
    ),
  );
}

function inOrder(reports: readonly FaultReport[], faults: readonly Fault[]): FaultReport[] {
  return faults.flatMap(({ name }) => reports.filter(({ fault }) => fault === name));
}

const retries = ({ expected }: Fault): boolean => expected.retries[0] > 0;

function total(tallies: readonly MessageTally[]): MessageTally {
  const sum = (field: keyof MessageTally): number => tallies.reduce((all, tally) => all + tally[field], 0);
  return { sent: sum('sent'), heartbeats: sum('heartbeats'), duringRetries: sum('duringRetries') };
}

/** Does what the gateway should have done. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
