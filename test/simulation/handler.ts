import type { Turn } from '../../src/sessions/turn.ts';
import type { MessageRow, SimulatedSession } from './simulatedSession.ts';
import type { World } from './world.ts';

type Deed = (world: World, session: SimulatedSession, row: MessageRow, turn: Turn) => unknown;

/** What a handler does with one message: a few deeds, one after the other. Heartbeats are answered quickly. */
export async function processMessage(
  world: World,
  session: SimulatedSession,
  row: MessageRow,
  turn: Turn,
): Promise<unknown> {
  const { chance } = world;
  if (world.calm) {
    await session.tool(row, turn);
    return row.name;
  }
  if (row.kind === 'heartbeat' && chance.happens(0.9)) return undefined;
  for (let left = chance.integer(0, 4); left > 0; left--) {
    await chance.weighted(deeds)(world, session, row, turn);
  }
  return row.name;
}

const deeds: readonly (readonly [weight: number, deed: Deed])[] = [
  [8, (_world, session, row, turn) => session.tool(row, turn)],
  [3, inParallel],
  [1, (_world, session, row, turn) => void session.tool(row, turn)],
  [2, (world, session) => sleep(world, world.chance.span(1, session.watchdog.turnMs))],
  [0.5, (world, session) => sleep(world, session.watchdog.turnMs * world.chance.integer(1, 3))],
  [2, work],
  [0.3, () => new Promise(() => undefined)],
  [0.5, untilAborted],
  [0.7, throws],
  [0.3, (_world, _session, _row, turn) => turn.escalate('help')],
  [0.3, (_world, session) => session.send('note')],
];

function inParallel(world: World, session: SimulatedSession, row: MessageRow, turn: Turn): Promise<unknown> {
  const count = world.chance.integer(2, 5);
  return Promise.all(Array.from({ length: count }, () => session.tool(row, turn)));
}

/** Works on its own for a while, with signs of progress. */
async function work(world: World, session: SimulatedSession, row: MessageRow, turn: Turn): Promise<void> {
  for (let left = world.chance.integer(1, 5); left > 0; left--) {
    await sleep(world, world.chance.span(1, session.watchdog.turnMs));
    row.progressAt = world.clock.now();
    turn.touch();
  }
}

/** Hangs, hears that it is to end, and may still try something. */
async function untilAborted(world: World, session: SimulatedSession, row: MessageRow, turn: Turn): Promise<void> {
  if (!turn.signal.aborted) {
    await new Promise((resolve) => {
      turn.signal.addEventListener('abort', resolve, { once: true });
    });
  }
  if (world.chance.happens(0.3)) await session.tool(row, turn);
  if (world.chance.happens(0.5)) throw turn.signal.reason;
}

function throws({ chance }: World): never {
  throw chance.pick<unknown>([new Error('the handler fails'), 'text', undefined, new RangeError('bad')]);
}

function sleep({ clock }: World, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimeout(resolve, ms);
  });
}
