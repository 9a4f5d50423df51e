import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { createGateway } from '../../src/index.ts';
import { seededRandom } from '../../testing/index.ts';
import { checkHistory } from '../history/checkHistory.ts';
import type { JournalEntry } from '../history/journalEntry.ts';
import { describeViolation } from '../history/violation.ts';
import { postgresServer, query } from '../support/postgresServer.ts';
import { buildProgram } from '../support/sourceModule.mjs';
import { type Ask, audit, readRows } from './audit.ts';
import { ClusterLoad } from './clusterLoad.ts';
import { type Fault, faults, harm } from './faults.ts';
import { NodeProcess } from './nodeProcess.ts';

const hourMs = 3_600_000;
/** A trigger reads the clock, and then a lease that may have been renewed meanwhile; the clocks of nodes are an hour off. In ms. */
const slackMs = 1_000;
/** How long a round may take to come to rest when nothing is wrong any more, in ms. */
const restWithinMs = 40_000;

export interface ClusterReport {
  readonly seed: number;
  readonly nodes: number;
  /** How often each fault was made. */
  readonly faults: Readonly<Record<Fault, number>>;
  readonly accepted: number;
  /** Messages that have their end, those too whose sender never heard of it. */
  readonly processed: number;
  readonly calls: number;
  readonly claims: number;
  /** How long sessions were nobody's, in ms. */
  readonly takeovers: { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };
  readonly violations: readonly string[];
}

export interface KillClusterOptions {
  /** Rounds: each makes one or two faults, and is judged when all has come to rest. */
  readonly times: number;
  readonly seed: number;
  /** @defaultValue 1000 */
  readonly leaseMs?: number;
  /** @defaultValue all of them */
  readonly only?: readonly Fault[];
  readonly progress?: (rounds: number, accepted: number) => void;
}

/** Harms a cluster of three to five gateways on one PostgreSQL under load, round by round, and judges its history after each. */
export async function killCluster({
  times,
  seed,
  leaseMs = 1_000,
  only = faults,
  progress = () => undefined,
}: KillClusterOptions): Promise<ClusterReport> {
  const random = seededRandom(seed);
  const server = await postgresServer();
  const url = await server.database();
  const ask = patient((text, values) => query(url, text, values));
  const migrating = createGateway({ store: url, control: false });
  await migrating.start();
  await migrating.stop();
  const count = 3 + Math.floor(random() * 3);
  const names = Array.from({ length: count }, (_, index) => `node_${index}`);
  await audit(ask, names);
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-cluster-'));
  const place = {
    program: await buildProgram('cluster/clusterNode.ts'),
    port: server.port,
    database: new URL(url).pathname.slice(1),
    leaseMs,
    sessions: 8,
    directory,
  };
  const nodes: NodeProcess[] = [];
  const load = new ClusterLoad(() => nodes, random, { sessions: place.sessions, senders: 6 });
  const skews = [0, hourMs, -hourMs, 0, 0];
  for (const [index, name] of names.entries()) {
    nodes.push(await NodeProcess.make(name, skews[index] ?? 0, place, (_, words) => load.heard(words)));
  }
  const made = Object.fromEntries(faults.map((fault) => [fault, 0])) as Record<Fault, number>;
  const violations: string[] = [];
  const takeovers: number[] = [];
  const cluster = { ask, random, leaseMs, crashServer: () => server.crash() };
  const judge = async (): Promise<ReturnType<typeof checkHistory>> => {
    const journals = nodes.flatMap(({ journal }) => readJournal(journal));
    return checkHistory([...journals, ...load.journal], { ...(await readRows(ask)), leaseMs: leaseMs + slackMs });
  };
  let verdict: ReturnType<typeof checkHistory> | undefined;
  try {
    for (let round = 1; round <= times && violations.length === 0; round++) {
      for (const node of nodes) node.start();
      await until(() => nodes.every(({ isReady }) => isReady), restWithinMs);
      load.begin();
      await passed(300 + random() * 700);
      const harmed = [...nodes].sort(() => random() - 0.5).slice(0, random() < 0.3 ? 2 : 1);
      const reports = await Promise.all(
        harmed.map((node) => {
          const fault = only[Math.floor(random() * only.length)] ?? 'kill';
          made[fault]++;
          return harm(fault, node, cluster);
        }),
      );
      for (const report of reports) {
        violations.push(...report.violations);
        takeovers.push(...report.takeovers);
      }
      await passed(200 + random() * 300);
      load.pause();
      for (const node of nodes) {
        node.path.heal();
        node.start();
      }
      const isAtRest = async (): Promise<boolean> => load.unanswered === 0 && (await unprocessed(ask)) === 0;
      if (!(await until(isAtRest, restWithinMs))) {
        violations.push(`round ${round}: ${load.unanswered} messages have no answer, ${await unprocessed(ask)} no end`);
      }
      if (load.unkept.size > 0) violations.push(`round ${round}: accepted, not kept: ${[...load.unkept].join(', ')}`);
      verdict = await judge();
      violations.push(...verdict.violations.map((each) => `round ${round}: ${describeViolation(each)}`));
      progress(round, load.accepted.size);
    }
  } finally {
    load.end();
    await Promise.all(nodes.map((node) => node.end()));
    if (violations.length === 0) rmSync(directory, { recursive: true, force: true });
  }
  if (violations.length > 0) violations.push(`journals: ${directory}`);
  return {
    seed,
    nodes: count,
    faults: made,
    accepted: load.accepted.size,
    processed: verdict?.ended ?? 0,
    calls: verdict?.calls ?? 0,
    claims: verdict?.claims ?? 0,
    takeovers: quantiles(takeovers),
    violations,
  };
}

/** The server may be starting again. */
function patient(ask: Ask): Ask {
  return async (text, values) => {
    for (let tries = 0; ; tries++) {
      try {
        return await ask(text, values);
      } catch (error) {
        if (tries > 100 || !isPassing(error)) throw error;
        await passed(50);
      }
    }
  };
}

function isPassing(error: unknown): boolean {
  const code = String((error as { readonly code?: unknown } | null)?.code);
  return code.startsWith('57P') || code.startsWith('ECONN') || code === 'undefined';
}

/** In one look: a mail may become a message between two. */
async function unprocessed(ask: Ask): Promise<number> {
  const [row] = await ask(`SELECT
    (SELECT count(*) FROM unwedge.message WHERE state IN ('waiting', 'taken')) +
    (SELECT count(*) FROM unwedge.call WHERE state = 'pending') +
    (SELECT count(*) FROM unwedge.mail WHERE state = 'waiting') AS n`);
  return Number(row?.['n']);
}

async function until(isSo: () => boolean | Promise<boolean>, withinMs: number): Promise<boolean> {
  const end = Date.now() + withinMs;
  while (!(await isSo())) {
    if (Date.now() > end) return false;
    await passed(50);
  }
  return true;
}

/** The last line may have been cut by a kill. */
function readJournal(file: string): readonly JournalEntry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        return [JSON.parse(line) as JournalEntry];
      } catch {
        return [];
      }
    });
}

function quantiles(values: readonly number[]): ClusterReport['takeovers'] {
  const sorted = [...values].sort((one, other) => one - other);
  const at = (part: number): number =>
    Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0);
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}
