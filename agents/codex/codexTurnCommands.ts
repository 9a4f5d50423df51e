import {
  type ProcessEntry,
  descendants,
  listByEnvironment,
  readCommandLine,
  tellsEnvironments,
  terminateTree,
  variablesOf,
} from '../../src/actors/process/face.ts';
import type { Clock } from '../../src/policy/face.ts';
import type { BegunCommand, BegunWork } from './protocol/begunCommands.ts';
import { recordIn, textIn } from '../../src/protocol/face.ts';

/** Options to end the work that a turn began. */
interface EndCommandsOptions {
  readonly work: BegunWork;
  readonly clock: Clock;
  /** Pid of the app-server. */
  readonly pid: number;
  /** True where the app-server can be asked for its terminals. */
  readonly experimentalApi: boolean;
  readonly request: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>;
}

/** Fate of the commands of a turn that was given up, each as Codex shows it. */
export interface EndedCommands {
  readonly ended: readonly string[];
  /** Commands that still run, or of which nobody knows. */
  readonly left: readonly string[];
}

/** Between SIGTERM and SIGKILL, in ms: what was given up is to have no effect any more. */
const graceMs = 1000;
/** Rounds: one that is killed may have started another just before. */
const maxRounds = 5;
/** Terminals that are asked for of one thread. */
const maxTerminals = 1000;
/** Commands that a message names. */
const maxShown = 5;

/**
 * Ends the commands that one turn began, with all that descends from them; those of other turns run on. Codex tells the processes
 * of a command whose they are by two variables. Never rejects.
 */
export async function endCommands(options: EndCommandsOptions): Promise<EndedCommands> {
  const { work, clock } = options;
  const open = new Map(work.commands.map((each) => [keyOf(each.thread, each.item), each]));
  if (open.size === 0) return { ended: [], left: [] };
  const seen = new Set<BegunCommand>();
  const left = new Map<BegunCommand, string>();
  for (let round = 0; round <= maxRounds; round++) {
    left.clear();
    const found = await processesOf(open);
    for (const { command, entry } of found) {
      seen.add(command);
      left.set(command, `${command.command} (process ${entry.pid})`);
    }
    if (found.length === 0 || round === maxRounds) break;
    const pids = new Set(found.map(({ entry }) => entry.pid));
    const roots = found.filter(({ entry }) => !pids.has(entry.parent));
    await Promise.all(
      roots.map(({ entry: { pid, startTime } }) =>
        terminateTree(pid, { clock, startTime, graceMs: round === 0 ? graceMs : 0 }),
      ),
    );
  }
  const unseen = options.experimentalApi
    ? await endTerminals(options, open, seen)
    : await lookAlikes(options, work.commands, seen);
  for (const [command, text] of unseen) left.set(command, text);
  return {
    ended: [...seen].filter((command) => !left.has(command)).map(({ command }) => command),
    left: [...left.values()],
  };
}

/** Says which commands of a turn that was given up could not be ended. */
export function commandsLeft(left: readonly string[]): string {
  const more = left.length > maxShown ? ` and ${left.length - maxShown} more` : '';
  return `commands of it may still run: ${left.slice(0, maxShown).join('; ')}${more}`;
}

const keyOf = (thread: string | undefined, item: string | undefined): string => `${thread}\n${item}`;

type OpenCommands = ReadonlyMap<string, BegunCommand>;

async function processesOf(
  open: OpenCommands,
): Promise<readonly { readonly command: BegunCommand; readonly entry: ProcessEntry }[]> {
  const entries = await listByEnvironment((variable) => commandOf(open, variable) !== undefined);
  return entries.flatMap((entry) => {
    const command = commandOf(open, variablesOf(entry.pid));
    return command === undefined ? [] : [{ command, entry }];
  });
}

const commandOf = (open: OpenCommands, variable: (name: string) => string | undefined): BegunCommand | undefined =>
  open.get(keyOf(variable('CODEX_THREAD_ID'), variable('CODEX_TOOL_CALL_ID')));

type Left = readonly (readonly [command: BegunCommand, text: string])[];

/** Has Codex end those of its terminals that are the turn's: where the processes are out of sight, it alone can. @returns what still runs. */
async function endTerminals(options: EndCommandsOptions, open: OpenCommands, seen: Set<BegunCommand>): Promise<Left> {
  const { work, request } = options;
  const terminalsOf = async (threadId: string) => {
    const all = readTerminals(await request('thread/backgroundTerminals/list', { threadId, limit: maxTerminals }));
    return all.flatMap(({ item, processId }) => {
      const command = open.get(keyOf(threadId, item));
      return command === undefined ? [] : [{ command, processId }];
    });
  };
  const left: (readonly [BegunCommand, string])[] = [];
  for (const threadId of new Set(work.commands.map(({ thread }) => thread))) {
    try {
      for (const { command, processId } of await terminalsOf(threadId)) {
        await request('thread/backgroundTerminals/terminate', { threadId, processId });
        seen.add(command);
      }
      for (const { command } of await terminalsOf(threadId)) left.push([command, command.command]);
    } catch {
      const untold = work.commands.filter(({ thread }) => thread === threadId);
      left.push(...(await lookAlikes(options, untold, seen)));
    }
  }
  return left;
}

/** A command that Codex keeps running, by its item and by Codex's own number of it, which is no pid. */
interface CodexTerminal {
  readonly item: string;
  readonly processId: string;
}

/** Reads the answer to `thread/backgroundTerminals/list`; what lacks its names is left out. Never throws. */
function readTerminals(value: unknown): readonly CodexTerminal[] {
  const data = recordIn(value)?.['data'];
  if (!Array.isArray(data)) return [];
  return (data as unknown[]).flatMap((each) => {
    const terminal = recordIn(each);
    const item = textIn(terminal?.['itemId']);
    const processId = textIn(terminal?.['processId']);
    return item === undefined || processId === undefined ? [] : [{ item, processId }];
  });
}

/** Commands that may run on though no process says that it is theirs. */
async function lookAlikes(
  { pid }: EndCommandsOptions,
  commands: readonly BegunCommand[],
  seen: ReadonlySet<BegunCommand>,
): Promise<Left> {
  const unknown = commands.filter((command) => !command.over && !seen.has(command));
  if (unknown.length === 0) return [];
  if (!tellsEnvironments()) return unknown.map((command) => [command, command.command]);
  const below = (await descendants(pid)).filter((each) => variablesOf(each)('CODEX_TOOL_CALL_ID') === undefined);
  return unknown.flatMap((command) => {
    const process = below.find((each) => isLike(readCommandLine(each), command.command));
    return process === undefined ? [] : [[command, `${command.command} (process ${process})`] as const];
  });
}

/** A shell that was given one command becomes that, so that its words are those behind `-c`. */
function isLike(words: readonly string[], command: string): boolean {
  const said = words[1] === '-c' || words[1] === '-lc' ? words.slice(2) : words;
  return said.length > 0 && command.includes(said.join(' ').slice(0, 150));
}
