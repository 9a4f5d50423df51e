/** Facts known of an event of Claude Code's hooks. Events that are not in the table are as good as those that are. */
interface EventRow {
  /** The whole time the host gives the hooks of this event, in ms, where it is not the usual one. */
  readonly hostMs?: number;
  /** False where a block undoes or prevents nothing: it is then a message to people or to the model. */
  readonly blocks?: false;
  /** A block has the agent go on working: a hook that fails must not, or the agent could never end. */
  readonly keepsWorking?: true;
}

const rows: Readonly<Record<string, EventRow>> = {
  UserPromptSubmit: { hostMs: 30_000 },
  PreModelSwitch: { hostMs: 30_000 },
  PostModelSwitch: { hostMs: 30_000, blocks: false },
  MessageDisplay: { hostMs: 10_000, blocks: false },
  SessionEnd: { hostMs: 1500, blocks: false },
  SessionStart: { blocks: false },
  Setup: { blocks: false },
  InstructionsLoaded: { blocks: false },
  Notification: { blocks: false },
  SubagentStart: { blocks: false },
  PermissionDenied: { blocks: false },
  PostCompact: { blocks: false },
  StopFailure: { blocks: false },
  CwdChanged: { blocks: false },
  FileChanged: { blocks: false },
  DirectoryAdded: { blocks: false },
  WorktreeRemove: { blocks: false },
  Stop: { keepsWorking: true },
  SubagentStop: { keepsWorking: true },
  TaskCompleted: { keepsWorking: true },
  TeammateIdle: { keepsWorking: true },
};

const unremarkable: EventRow = {};

/** Hosts give 600 s, older ones 60 s; what must end before them must end before the shorter. */
const usualHostMs = 60_000;
/** Time where nobody says which event it is. */
const unknownEventMs = 10_000;
/** Part of the host's time that is kept for ending the hook and writing down why, as a share of it and in ms. */
const reserve = 0.2;
const shortestReserveMs = 300;
const longestReserveMs = 5000;
/** A host that waits less than its hook may take at the least gets half of its time, in ms. */
const leastMs = 100;

/**
 * Returns how long a command hook may run, in ms: less than its host waits for it, by what ending it takes. SessionEnd, whose host waits 1.5 s in all, gets
 * 1.2 s.
 * @param event - undefined when it is not known: then at most 10 s.
 * @param hostMs - how long its host waits. @defaultValue as hosts usually do at this event
 */
export function hookLimitMs(event: string | undefined, hostMs = hookHostMs(event)): number {
  const reserveMs = Math.min(longestReserveMs, Math.max(shortestReserveMs, hostMs * reserve));
  const limitMs = Math.max(leastMs, hostMs / 2, hostMs - reserveMs);
  const rounded = limitMs > 1000 ? Math.floor(limitMs / 100) * 100 : Math.floor(limitMs);
  return event === undefined ? Math.min(unknownEventMs, rounded) : rounded;
}

/** Returns how long hosts usually wait at this event, in ms. */
export function hookHostMs(event: string | undefined): number {
  return (event === undefined ? undefined : rowOf(event).hostMs) ?? usualHostMs;
}

/** Tells whether a block of this event's hooks prevents what it is about; true for an event we do not know. */
export function canBlock(event: string): boolean {
  return rowOf(event).blocks !== false;
}

/** Tells whether a guard that fails may block: not where a block has the agent go on working for ever. */
export function mayBlockOnFailure(event: string | undefined): boolean {
  return event === undefined || rowOf(event).keepsWorking !== true;
}

function rowOf(event: string): EventRow {
  return (Object.hasOwn(rows, event) ? rows[event] : undefined) ?? unremarkable;
}
