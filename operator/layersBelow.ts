import { readLayersAnswer } from '../src/control/face.ts';
import { descendants, markName, variablesOf } from '../src/actors/process/face.ts';
import { openReader } from '../reader/openReader.ts';
import { systemClock } from '../src/runtime/face.ts';
import { type LayerWhy, type SessionWhy, layersOf } from '../src/sessions/face.ts';
import type { RuntimeRow } from '../src/store/face.ts';
import { askRuntimes } from './askRuntimes.ts';
import { runtimesOf } from './unlisted.ts';

/**
 * Asks the runtimes of a database what is under way below a process: requests of these conversations to a model, and calls of tools behind programs that
 * descend from it, or were started in an environment that names it. Takes up to 2 s; never rejects.
 */
async function layersBelow(
  rows: readonly RuntimeRow[],
  pid: number,
  conversations: readonly string[],
): Promise<readonly LayerWhy[]> {
  const others = rows.filter((row) => row.pid !== pid);
  const asking = askRuntimes(others, { now: () => systemClock.wallNow() }, 'layers', readLayersAnswer);
  const [asked, below] = await Promise.all([asking, descendants(pid)]);
  // A run's mark begins with the pid of the runtime that started it.
  const isMarked = (other: number): boolean =>
    variablesOf(other)(markName)
      ?.split('/')
      .some((mark) => mark.startsWith(`${pid}.`)) === true;
  return asked.flatMap(({ runtime, answer = [] }) => {
    const isBelow = below.includes(runtime.pid) || isMarked(runtime.pid);
    return answer.filter(({ kind, conversations: own = [] }) =>
      kind === 'call' ? isBelow : own.some((each) => conversations.includes(each)),
    );
  });
}

/** Asks for what is below this process. Rejects where the database cannot be read. */
export async function ownLayers(db: string, conversations: readonly string[]): Promise<readonly LayerWhy[]> {
  const reader = await openReader(db);
  const rows = await runtimesOf(reader, systemClock.wallNow()).finally(() => reader.close());
  return layersBelow(rows, process.pid, conversations);
}

/** Adds what is below the prompts of an agent. @param pid - of the runtime that has it. */
export async function withLayers(why: SessionWhy, rows: readonly RuntimeRow[], pid: number): Promise<SessionWhy> {
  const conversations = why.calls.flatMap(({ conversation }) => conversation ?? []);
  if (conversations.length === 0) return why;
  const layers = await layersBelow(rows, pid, conversations);
  return { ...why, calls: why.calls.map((call) => ({ ...call, behind: layersOf(call.conversation, layers) })) };
}
