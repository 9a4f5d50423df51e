import type { Tool } from '@modelcontextprotocol/client';
import type { Clock, Timer } from '../../policy/clock.ts';
import { AttemptError } from '../../policy/failures/failure.ts';
import { rpcErrors } from '../../protocol/jsonRpc.ts';
import type { McpConnection, McpRequestContext } from './mcpClient.ts';

/** The tools of a server as it last listed them. */
export interface KnownTools {
  readonly tools: readonly Tool[];
  /** True while the server that runs now has listed them, and has not said since that they changed. */
  readonly current: boolean;
}

/** Differences between one list and the one before, by the names of tools. */
export interface ToolChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** In both, and not the same. */
  readonly changed: readonly string[];
}

/** The list of a server's tools: kept while the server is down, asked for again when it is back or says that it changed. */
export type ToolList = ReturnType<typeof createToolList>;

interface ToolListOptions {
  readonly clock: Clock;
  /** Time in ms that the server may take to list its tools when nobody waits for it. */
  readonly limitMs: number;
  /** Told when a list differs from the one before. Must not throw. */
  readonly changed: (changes: ToolChanges) => void;
  /** Told of each list before anybody else; resolves when it may be used. @defaultValue nobody is told */
  readonly seen?: (listed: readonly Tool[]) => Promise<void> | undefined;
  /** Tells which of them are listed for callers, and how. @defaultValue all, as they are */
  readonly shown?: (listed: readonly Tool[]) => readonly Tool[];
}

/** Changes told within this, in ms, are one: a server may tell each tool, and may tell another when it is asked. */
const gatherMs = 100;

export function createToolList({ clock, limitMs, changed, seen, shown = (listed) => listed }: ToolListOptions) {
  /** As the server listed them, and as callers see them. */
  let tools: readonly Tool[] | undefined;
  let visible: readonly Tool[] = [];
  let byName: ReadonlyMap<string, Tool> = new Map();
  let connection: McpConnection | undefined;
  let current = false;
  let gathering: Timer | undefined;
  /** Counts the changes told, so that a list asked for before one is not taken for the list after it. */
  let told = 0;
  /** As of which change the list was asked for that is kept. */
  let keptAsOf = 0;

  const keep = (listed: readonly Tool[]): void => {
    const before = tools;
    tools = listed;
    visible = shown(listed);
    byName = new Map(listed.map((tool) => [tool.name, tool]));
    const changes = before === undefined ? undefined : changesBetween(before, listed);
    if (changes !== undefined) changed(changes);
  };

  const ask = async (asked: McpConnection, context: McpRequestContext): Promise<readonly Tool[]> => {
    const asOf = told;
    const listed = await toolsOf(asked, context);
    await seen?.(listed);
    // A server may answer the later question first.
    if (asked !== connection || asOf < keptAsOf) return shown(listed);
    keptAsOf = asOf;
    current = asOf === told;
    keep(listed);
    return visible;
  };

  /** Nobody waits for this list. A caller that needs a missing list asks again, and is told why it does not come. */
  const refresh = (asked: McpConnection): void => {
    const own = new AbortController();
    const timer = clock.setTimeout(() => own.abort('the list took too long'), limitMs, { running: true });
    void ask(asked, { signal: own.signal, touch: () => undefined })
      .catch(() => undefined)
      .finally(() => clock.clearTimeout(timer));
  };

  const stale = (asked: McpConnection): void => {
    if (asked !== connection) return;
    told += 1;
    current = false;
    gathering ??= clock.setTimeout(() => {
      gathering = undefined;
      if (asked === connection) refresh(asked);
    }, gatherMs);
  };

  return {
    /** Absent until the server has listed its tools for the first time. */
    get known(): KnownTools | undefined {
      return tools === undefined ? undefined : { tools: visible, current };
    },
    /** Finds one by the name that its server gives it. */
    find: (name: string): Tool | undefined => byName.get(name),
    /** What callers see of the tools is another now. */
    showAgain(): void {
      visible = shown(tools ?? []);
    },
    /** The handshake of an incarnation is over. */
    ready(ready: McpConnection): void {
      connection = ready;
      ready.onToolsChanged(() => stale(ready));
      refresh(ready);
    },
    /** The connection can no longer be used. */
    lost(): void {
      connection = undefined;
      current = false;
      clock.clearTimeout(gathering);
      gathering = undefined;
    },
    /** Asks for the list. @throws {@link AttemptError} when the server does not give it. */
    ask,
  };
}

/** A server that does not know the question has no tools. */
async function toolsOf(connection: McpConnection, context: McpRequestContext): Promise<readonly Tool[]> {
  try {
    return await connection.listTools(context);
  } catch (error) {
    if (error instanceof AttemptError && error.facts.code === rpcErrors.methodNotFound) return [];
    throw error;
  }
}

/** Undefined when the lists are the same, in whatever order. */
function changesBetween(before: readonly Tool[], after: readonly Tool[]): ToolChanges | undefined {
  const old = new Map(before.map((tool) => [tool.name, JSON.stringify(tool)]));
  const fresh = new Map(after.map((tool) => [tool.name, JSON.stringify(tool)]));
  const added = [...fresh.keys()].filter((name) => !old.has(name));
  const removed = [...old.keys()].filter((name) => !fresh.has(name));
  const changed = [...fresh].filter(([name, text]) => old.has(name) && old.get(name) !== text).map(([name]) => name);
  return added.length + removed.length + changed.length === 0 ? undefined : { added, removed, changed };
}
