import { PgConnections } from '../../../postgres/pgConnections.ts';
import { preparePgSchema } from '../../../postgres/pgSchema.ts';
import type { PgQuery, PgRow } from '../../../postgres/pgDriver.ts';
import { readTarget } from '../../../postgres/pgTarget.ts';
import { SimulatedClock } from '../../../testing/index.ts';
import { checkHistory } from '../../history/checkHistory.ts';
import type { HistoryRows, JournalEntry, LeaseChange } from '../../history/journalEntry.ts';
import { describeViolation } from '../../history/violation.ts';
import { digestOf, hearTokens, type Note } from '../../cluster/journal.ts';
import { PlannedChance } from '../plan.ts';
import { isDrained } from './mailJudge.ts';
import { type Pglite, startPglite } from './pglite.ts';
import { leaseMs, type SimulatedProcess, type SimulatedProcessParts } from './simulatedProcess.ts';
import { type ClientProcess, isFenced, SimulatedServer } from './simulatedServer.ts';

const hourMs = 3_600_000;
/** Until nothing waits any more, when nothing goes wrong any more. */
const mostRounds = 400;
/** Of the seeds, how many go on until nothing waits any more: that takes more than all before it. */
const wholeShare = 0.06;

/** What became of one seed. */
export interface StoreResult {
  readonly seed: number;
  readonly violation: string | undefined;
  readonly statements: number;
  /** Planned steps that were come to. */
  readonly reached: number;
  readonly simulatedMs: number;
  readonly counted: Readonly<Record<string, number>>;
}

/** A process of the simulation, by what it does. */
export interface SimulatedNode extends SimulatedProcess {
  /** Operations without an answer. */
  readonly pending: number;
  /** Messages that it has sent to sessions. */
  readonly messages: number;
  /** Whether it has ended of itself: another one takes its place. */
  readonly hasStopped?: boolean;
  /** Whether all is done that it waits for. @defaultValue when all of its mail has ended */
  readonly isDone?: boolean;
  /** A few things that it may do now. */
  act(): void;
  /** Gives everything to the database that waits for it. */
  flush(): void;
  /** Brings to its end what can be: nothing new is begun. */
  drain(): void;
}

export interface NodeParts extends Omit<SimulatedProcessParts, 'mutate'> {
  readonly sessions: readonly string[];
  readonly note: Note;
}

export interface RunNodesOptions<N extends SimulatedNode> {
  readonly seed: number;
  /** Numbers of the planned steps that are played. @defaultValue all */
  readonly only?: readonly number[] | undefined;
  readonly make: (name: string, parts: NodeParts) => N;
  /** How often each goes on when nothing waits any more, before all is judged. @defaultValue few seeds go on until then */
  readonly roundsMore?: number;
  /** Has nodes stand still or die with writes on their way, beside all else. @defaultValue false */
  readonly strikes?: boolean;
  /** The first promise that was broken. @param told - nodes that have heard of every end: nothing waits any more. */
  readonly judge: (database: Pglite, nodes: readonly N[], told: ReadonlySet<string>) => Promise<string | undefined>;
}

let prepared: Promise<Pglite> | undefined;

/**
 * Runs several nodes on one simulated PostgreSQL through what one seed says: its statements fail, its connections tear, nodes stand still, die and come
 * back. Then it judges what each node was told against what is there in the end.
 */
export async function runNodes<N extends SimulatedNode>({
  seed,
  only,
  make,
  roundsMore = 0,
  strikes = false,
  judge: judgeNodes,
}: RunNodesOptions<N>): Promise<StoreResult> {
  prepared ??= prepare();
  const database = await prepared;
  await database.exec(await emptying(database));
  const planned = new PlannedChance(seed);
  const { chance } = planned;
  const clock = new SimulatedClock();
  const server = new SimulatedServer(database, clock, chance);
  const { changes: leases, unfenced } = watchLeases(database, server, clock);
  const journal: JournalEntry[] = [];
  const nodes: N[] = [];
  const sessions = Array.from({ length: chance.integer(1, 3) }, (_, index) => `s-${index}`);
  const names = chance.integer(2, 4);
  const start = (): void => {
    const skewMs = chance.pick([0, hourMs, -hourMs]);
    const name = `node-${nodes.length}`;
    nodes.push(make(name, { server, clock, chance, skewMs, sessions, note: (entry) => journal.push(entry) }));
  };
  for (let index = 0; index < names; index++) start();
  const alive = (): readonly N[] => nodes.filter(({ isDead }) => !isDead);
  const replace = async (node: N): Promise<void> => {
    node.kill();
    await server.leave(node);
    start();
  };
  const replaceStopped = async (): Promise<void> => {
    for (const node of alive().filter(({ hasStopped }) => hasStopped === true)) await replace(node);
  };
  let statements = 0;
  const step = async (): Promise<void> => {
    statements++;
    await server.step();
    await clock.settle();
  };
  server.isCalm = true;
  while (server.isBusy || alive().some(({ pending }) => pending > 0)) await step();
  server.isCalm = false;
  const steps = chance.integer(200, 600);
  for (let index = 0; index < steps; index++) {
    planned.begin(index);
    if (alive().some(({ hasStopped }) => hasStopped === true)) await replaceStopped();
    const node = chance.pick(alive());
    const act = chance.weighted<() => Promise<void> | void>([
      [10, () => (node.isRunning ? node.act() : undefined)],
      [30, step],
      [3, () => clock.advance(chance.span(1, 200))],
      [0.4, () => clock.advance(chance.span(leaseMs / 2, leaseMs * 3))],
      [0.4, () => (node.isRunning ? node.freeze() : node.goOn())],
      [0.2, () => replace(node)],
      // It stands still, or dies, with writes on their way that arrive when another may have its sessions.
      [
        strikes ? 4 : 0,
        async () => {
          if (!node.isRunning || !server.hasWrites(node)) return;
          server.delay(node, chance.span(leaseMs, leaseMs * 8));
          if (chance.happens(0.5)) node.freeze();
          else await replace(node);
        },
      ],
    ]);
    if (only?.includes(index) !== false) await act();
    await clock.settle();
  }
  planned.begin(-1);
  server.isCalm = true;
  for (const node of alive()) if (!node.isRunning) node.goOn();
  for (const node of alive()) node.flush();
  // All that is under way comes to its end, by its own limits at the latest.
  for (let quiet = 0; quiet < 400 && alive().some(({ pending }) => pending > 0); quiet++) {
    while (server.isBusy) await step();
    await clock.advance(250);
  }
  while (server.isBusy) await step();
  const late = unanswered(alive());
  // One that has stopped is told of nothing any more.
  const living = (): readonly N[] => alive().filter(({ hasStopped }) => hasStopped !== true);
  const isQuiet = async (): Promise<boolean> => {
    if (living().some(({ isDone }) => isDone === false)) return false;
    const owed = living().filter(({ isDone }) => isDone === undefined);
    return await isDrained(database, namesOf(owed));
  };
  const isWhole = late === undefined && (roundsMore > 0 || chance.happens(wholeShare));
  if (isWhole && living().length === 0) start();
  for (let rounds = 0, quiet = 0; isWhole && rounds < mostRounds; rounds++) {
    quiet = (await isQuiet()) ? quiet + 1 : 0;
    if (quiet > roundsMore) break;
    for (const node of alive()) node.drain();
    await clock.settle();
    while (server.isBusy) await step();
    await clock.advance(200);
  }
  const violation =
    late ??
    (!isWhole || (await isQuiet()) ? undefined : 'something waits, and nobody takes it') ??
    (await judgeNodes(database, nodes, new Set(isWhole ? namesOf(living()) : []))) ??
    (await judge(database, journal, leases)) ??
    unfenced[0];
  const counted = {
    ...server.faults,
    nodes: nodes.length,
    entries: journal.length,
    messages: nodes.reduce((sum, { messages }) => sum + messages, 0),
  };
  // Their timers are the simulation's: what is left of them ends with it.
  for (const node of alive()) node.kill();
  return { seed, violation, statements, reached: steps, simulatedMs: clock.now(), counted };
}

const namesOf = (nodes: readonly SimulatedNode[]): readonly string[] => nodes.map(({ name }) => name);

/** Every call of the boundary is answered, whatever becomes of the database. */
function unanswered(nodes: readonly SimulatedNode[]): string | undefined {
  const [node] = nodes.filter(({ pending }) => pending > 0);
  return node && `${node.name} has ${node.pending} operations without an answer`;
}

async function judge(
  database: Pglite,
  journal: readonly JournalEntry[],
  leases: readonly LeaseChange[],
): Promise<string | undefined> {
  const { rows: messages } = await database.query(
    'SELECT session, number, key, state, deliveries FROM unwedge.message',
  );
  const { rows: calls } = await database.query('SELECT id, session, state, result FROM unwedge.call');
  const rows: HistoryRows = {
    messages: messages.map((row) => ({ ...row, number: Number(row['number']) })) as never,
    calls: calls.map((row) => ({
      ...row,
      result: typeof row['result'] === 'string' ? digestOf(row['result']) : null,
    })) as never,
    leases,
    leaseMs,
    isDrained: false,
  };
  const [violation] = checkHistory(journal, rows).violations;
  return violation && describeViolation(violation);
}

interface WatchedLeases {
  readonly changes: readonly LeaseChange[];
  /** Statements that were to fail under a lease that is another's, and did not. */
  readonly unfenced: readonly string[];
}

/** Notes each change of an owner, with the times of the simulation. */
function watchLeases(database: Pglite, server: SimulatedServer, clock: SimulatedClock): WatchedLeases {
  const changes: LeaseChange[] = [];
  const unfenced: string[] = [];
  type State = Map<string, { token: number; owner: string | null; until: number }>;
  let before: State = new Map();
  const read = async (): Promise<State> => {
    const { rows } = await database.query(
      'SELECT l.key, l.token, l.owner, extract(epoch FROM n.expires_at) * 1000 AS until FROM unwedge.lease l LEFT JOIN unwedge.node n ON n.id = l.owner',
    );
    return new Map(
      rows.map(({ key, token, owner, until }) => [
        String(key),
        { token: Number(token), owner: typeof owner === 'string' ? owner : null, until: Number(until ?? 0) },
      ]),
    );
  };
  /** Notes each row that was written under a lease that is another's. */
  const checkFence = async ({ name = '', values = [] }: PgQuery, rows: readonly PgRow[]): Promise<void> => {
    const [first, second, third] = values;
    const [sessions, tokens] = name.endsWith('_one') ? [[third], [first]] : [first, second];
    // Two forms fail unless each row is written, the other one says which are.
    const isWhole = /_(one|many)$/.test(name);
    const written = isWhole ? null : rows.filter(({ held }) => held !== false).map(({ ord }) => Number(ord));
    const { rows: overtaken } = await database.query(
      `SELECT w.key, w.token, l.token AS now FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (key, token, ord)
       LEFT JOIN unwedge.lease l ON l.key = w.key
       WHERE l.token IS DISTINCT FROM w.token AND ($3::bigint[] IS NULL OR w.ord = ANY ($3))`,
      [sessions, tokens, written],
    );
    for (const { key, token, now } of overtaken) {
      unfenced.push(`${name} wrote to ${String(key)} under token ${String(token)}, while its lease has ${String(now)}`);
    }
  };
  server.watch = async (query, rows) => {
    if (rows !== undefined && isFenced(query)) await checkFence(query, rows);
    if (query.name !== 'acquire_lease') return;
    if (rows === undefined) {
      before = await read();
      return;
    }
    for (const [session, now] of await read()) {
      const was = before.get(session) ?? null;
      if (was?.token === now.token) continue;
      changes.push({ session, ...now, at: clock.wallNow(), before: was });
      server.takenOver();
    }
  };
  return { changes, unfenced };
}

async function emptying(database: Pglite): Promise<string> {
  const { rows } = await database.query(
    `SELECT tablename FROM pg_tables WHERE schemaname = 'unwedge' AND tablename <> 'schema_version'`,
  );
  return `ROLLBACK; TRUNCATE ${rows.map(({ tablename }) => `unwedge.${String(tablename)}`).join(', ')}`;
}

async function prepare(): Promise<Pglite> {
  hearTokens();
  const database = await startPglite();
  const clock = new SimulatedClock();
  const server = new SimulatedServer(database, clock, new PlannedChance(0).chance);
  server.isCalm = true;
  const process: ClientProcess = { name: 'first', deliver: (what) => what(), mutate: (text) => text };
  const connections = new PgConnections(
    server.module(process),
    readTarget('postgres://nobody@localhost/simulation'),
    1,
  );
  let isDone = false;
  const done = preparePgSchema(connections).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    await server.step();
    await clock.settle();
  }
  await done;
  return database;
}
