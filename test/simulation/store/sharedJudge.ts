import { levelsIn } from '../../../src/store/rates.ts';
import type { Pglite } from './pglite.ts';
import { bucketLimit, type SharedNode } from './sharedNode.ts';

type Row = Readonly<Record<string, unknown>>;

/**
 * What nodes share is counted once, whatever became of the connection it went over: all of living nodes, of dead ones what they had written. Copies end as the
 * database is; one node raises an alert, and one clears it. @returns the first of these that is not so.
 */
export async function judgeShared(database: Pglite, nodes: readonly SharedNode[]): Promise<string | undefined> {
  const living = nodes.filter(({ isDead }) => !isDead);
  const { rows: breakers } = await database.query('SELECT * FROM unwedge.breaker');
  const { rows: rates } = await database.query('SELECT levels FROM unwedge.rate');
  const { rows: alerts } = await database.query('SELECT * FROM unwedge.alert');
  const { rows: events } = await database.query('SELECT type, metadata FROM unwedge.event ORDER BY id');
  const sum = (of: readonly SharedNode[], value: (node: SharedNode) => number): number =>
    of.reduce((all, node) => all + value(node), 0);
  const within = (what: string, value: number, of: (node: SharedNode) => number, unsure = () => 0 as number) => {
    const [least, most] = [sum(living, of), sum(nodes, of) + sum(nodes, unsure)];
    return value < least || value > most ? `${what}: ${value}, of ${least} to ${most}` : undefined;
  };
  const left =
    levelsIn(rates[0] === undefined ? '{}' : String(rates[0]['levels']))?.['requests']?.own?.level ?? bucketLimit;
  return (
    within('failures counted', Number(rowOf(breakers, 'counted')?.['failures'] ?? 0), ({ counted }) => counted) ??
    within('taken of the bucket', Math.round(bucketLimit - left), ({ taken }) => taken) ??
    (sum(nodes, ({ taken }) => taken) > bucketLimit * nodes.length
      ? 'more was taken than a bucket for each'
      : undefined) ??
    judgeCopies(living, breakers, left) ??
    judgeEvents(nodes, events) ??
    judgeAlerts(nodes, alerts, events)
  );
}

const rowOf = (rows: readonly Row[], name: string): Row | undefined => rows.find((row) => row['name'] === name);

function judgeCopies(living: readonly SharedNode[], rows: readonly Row[], left: number): string | undefined {
  for (const node of living) {
    for (const name of ['counted', 'circuit']) {
      const row = rowOf(rows, name);
      const copy = node.store.breakers.load(name);
      for (const [field, column] of fields) {
        const [here, there] = [String(copy?.[field]), String(row?.[column])];
        if (here !== there) return `${node.name} has ${field} ${here} of ${name}, and it is ${there}`;
      }
      if (name === 'circuit' && node.generation > Number(row?.['generation'] ?? 0))
        return `${node.name} saved generation ${node.generation}, and it is ${String(row?.['generation'])}`;
    }
    const level = node.draw(0).levels['requests']?.own?.level ?? bucketLimit;
    if (Math.round(level - left) !== 0) return `${node.name} has ${level} left in the bucket, and there are ${left}`;
  }
  return undefined;
}

const fields = [
  ['state', 'state'],
  ['generation', 'generation'],
  ['openUntil', 'open_until'],
  ['failures', 'failures'],
] as const;

/** Each is there once, those of one node in the order in which they were recorded. */
function judgeEvents(nodes: readonly SharedNode[], events: readonly Row[]): string | undefined {
  const marks = events.filter(({ type }) => type === 'undelivered').map(({ metadata }) => markIn(metadata));
  for (const { name, isDead, recorded } of nodes) {
    const found = marks.filter((mark) => mark.startsWith(`${name}/`));
    const expected = isDead ? recorded.slice(0, found.length) : recorded;
    if (found.join() !== expected.join()) return `events of ${name}: ${found.join()}, of ${recorded.join()}`;
  }
  return undefined;
}

function judgeAlerts(nodes: readonly SharedNode[], alerts: readonly Row[], events: readonly Row[]): string | undefined {
  const ids = new Map(alerts.map((row) => [String(row['id']), row]));
  const open = alerts.filter((row) => row['cleared_at'] === null);
  if (open.length > 1) return `${open.length} alerts are open`;
  for (const type of ['raised', 'cleared']) {
    const told = events.filter((event) => event['type'] === type).map(({ metadata }) => markIn(metadata));
    if (new Set(told).size < told.length) return `an alert is ${type} twice: ${told.join()}`;
  }
  const clearedBy = new Map<string, string>();
  for (const { name, alerts: asked } of nodes) {
    for (const { answer } of asked.raised) {
      if (answer !== undefined && !ids.has(answer.id))
        return `${name} was told of alert ${answer.id}, which is nowhere`;
    }
    for (const { id, answer } of asked.cleared) {
      if (answer === undefined || answer.is === 'failing') continue;
      if (ids.get(id)?.['cleared_at'] === null) return `${name} was told that ${id} is ${answer.is}, and it is open`;
      if (answer.is === 'gone') continue;
      const other = clearedBy.get(id);
      if (other !== undefined) return `${name} and ${other} have both cleared ${id}`;
      clearedBy.set(id, name);
    }
  }
  const failures = alerts.reduce((sum, row) => sum + Number(row['failures']) - 1, 0);
  const least = nodes.reduce((sum, node) => sum + node.alerts.extended, 0);
  const most = nodes.reduce((sum, node) => sum + node.alerts.mayHaveExtended, least);
  return failures < least || failures > most ? `failures of alerts: ${failures}, of ${least} to ${most}` : undefined;
}

const markIn = (metadata: unknown): string => String((JSON.parse(String(metadata)) as { alert?: unknown }).alert);
