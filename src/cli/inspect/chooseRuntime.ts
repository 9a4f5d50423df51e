import { readStatusAnswer } from '../../control/answers.ts';
import type { JudgedRuntime } from '../../store/runtimes.ts';
import { readDatabase } from '../database.ts';
import { CommandError } from '../errors.ts';
import type { Io } from '../io.ts';
import { askRuntimes } from '../../runtime/askRuntimes.ts';
import { problemLines, runtimeText } from '../liveRuntimes.ts';
import { quoted, sanitize } from '../sanitize.ts';

/** Choice of a runtime. */
export interface Choice {
  readonly db: string | undefined;
  /** A name or a pid; without it there must be one only. */
  readonly attach: string | undefined;
}

/** The one live runtime of the database that is meant. @throws CommandError when there is none, or several. */
export async function chooseRuntime({ db, attach }: Choice, io: Io): Promise<JudgedRuntime> {
  const { path, rows } = await readDatabase(db, io, async (reader) => ({
    path: reader.path,
    rows: await reader.runtimes(),
  }));
  const asked = await askRuntimes(rows, io, 'status', readStatusAnswer);
  const live = asked.flatMap(({ runtime, answer }) => (answer === undefined ? [] : [runtime]));
  const meant =
    attach === undefined ? live : live.filter(({ name, pid }) => name === attach || String(pid) === attach.trim());
  const [found, ...others] = meant;
  if (found !== undefined && others.length === 0) return found;
  if (live.length === 0) {
    io.stderr.write(problemLines(asked, io.now()));
    throw new CommandError(`No live runtime answers for ${sanitize(path)}; there is nothing to watch.`);
  }
  const list = (meant.length === 0 ? live : meant).map((runtime) => runtimeText(runtime, io.now())).join(', ');
  if (found !== undefined) throw new CommandError(`${meant.length} live runtimes: ${list}. Choose with --attach PID.`);
  throw new CommandError(`No live runtime is ${quoted(attach ?? '')}; there is ${list}.`);
}
