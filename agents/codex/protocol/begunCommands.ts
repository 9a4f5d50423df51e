import { textIn } from '../../../src/protocol/face.ts';
import type { CodexItem } from './items.ts';
import type { CodexNotice } from './notifications.ts';

/** A command that a turn began, as its item says. */
export interface BegunCommand {
  readonly thread: string;
  readonly turn: string;
  /** Id of its item, which its processes carry in their environment too. */
  readonly item: string;
  /** As Codex shows it, cut. */
  readonly command: string;
  /** Codex has said that it ended; what it started may run on. */
  over: boolean;
}

/** Work that a turn began, with the sub-agents it set to work. */
export interface BegunWork {
  readonly commands: readonly BegunCommand[];
  /** Turns of sub-agents that are still under way. */
  readonly turns: readonly TurnName[];
}

export interface TurnName {
  readonly thread: string;
  readonly turn: string;
}

interface TurnRecord extends TurnName {
  /** Counts the turns of a connection in the order of their beginnings. */
  readonly number: number;
  readonly commands: Map<string, BegunCommand>;
  /** The threads of sub-agents that it gave work. */
  readonly helpers: Set<string>;
  over: boolean;
}

/** Turns that are remembered, and commands of each. */
const maxTurns = 500;
const maxCommands = 5000;
const longestCommand = 200;

/** Tools that set a sub-agent to work; the others wait for it, ask for it or end it. */
const settingToWork: ReadonlySet<string> = new Set([
  'followupTask',
  'resumeAgent',
  'sendInput',
  'sendMessage',
  'spawnAgent',
]);

/** The commands that the turns of one connection began, also those of sub-agents in threads of their own. What is kept is bounded. */
export class BegunCommands {
  readonly #turns = new Map<string, TurnRecord>();
  #count = 0;

  /** Takes one notification of any thread. */
  take(notice: CodexNotice): void {
    const { thread, turn } = notice;
    if (thread === undefined || turn === undefined) return;
    if (notice.kind === 'turnStarted') this.#turn(thread, turn);
    else if (notice.kind === 'turnCompleted') this.#turn(thread, turn).over = true;
    else if (notice.kind === 'itemStarted' || notice.kind === 'itemCompleted') {
      noteItem(this.#turn(thread, turn), notice.item, notice.kind === 'itemCompleted');
    }
  }

  /** Returns what a turn began, and the sub-agents that it set to work began for it. */
  of(thread: string, turn: string): BegunWork {
    const own = this.#turns.get(nameOf(thread, turn));
    if (own === undefined) return { commands: [], turns: [] };
    const found = new Set([own]);
    for (const { helpers, number } of found) {
      for (const each of this.#turns.values()) if (helpers.has(each.thread) && each.number > number) found.add(each);
    }
    return {
      commands: [...found].flatMap(({ commands }) => [...commands.values()]),
      turns: [...found].filter((each) => each !== own && !each.over),
    };
  }

  #turn(thread: string, turn: string): TurnRecord {
    const name = nameOf(thread, turn);
    const known = this.#turns.get(name);
    if (known !== undefined) return known;
    const made = { thread, turn, number: ++this.#count, commands: new Map(), helpers: new Set<string>(), over: false };
    this.#turns.set(name, made);
    if (this.#turns.size > maxTurns) this.#forget();
    return made;
  }

  /** The oldest that has ended is forgotten; the oldest of all where none has. */
  #forget(): void {
    let oldest: string | undefined;
    for (const [name, { over }] of this.#turns) {
      oldest ??= name;
      if (!over) continue;
      oldest = name;
      break;
    }
    if (oldest !== undefined) this.#turns.delete(oldest);
  }
}

function noteItem({ thread, turn, commands, helpers }: TurnRecord, { id, type, raw }: CodexItem, over: boolean): void {
  if (type === 'collabAgentToolCall') {
    const receivers = raw['receiverThreadIds'];
    if (!settingToWork.has(textIn(raw['tool']) ?? '') || !Array.isArray(receivers)) return;
    for (const each of receivers as unknown[]) if (typeof each === 'string') helpers.add(each);
    return;
  }
  // Commands that its user runs in a shell of their own are no doing of the turn, and what is typed into a running command began before.
  const source = raw['source'];
  if (type !== 'commandExecution' || source === 'userShell' || source === 'unifiedExecInteraction') return;
  const known = commands.get(id);
  if (known !== undefined) known.over ||= over;
  else if (commands.size < maxCommands) {
    commands.set(id, { thread, turn, item: id, command: shown(textIn(raw['command']) ?? 'a command'), over });
  }
}

const shown = (command: string): string =>
  command.length > longestCommand ? `${command.slice(0, longestCommand - 3)}...` : command;

const nameOf = (thread: string, turn: string): string => `${thread}\n${turn}`;
