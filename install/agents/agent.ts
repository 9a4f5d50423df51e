import type { AgentName, ConfigFile } from '../configFile.ts';
import type { Document } from '../document.ts';
import type { Program } from '../entry.ts';
import type { HookShell } from '../hookText.ts';
import type { World } from '../world.ts';

/** Why an entry is left as it is; undefined when it is not. */
export type Reason = string | undefined;

/** Facts known of an agent's programs. */
export interface Agent {
  readonly name: AgentName;
  /** As its makers write it. */
  readonly title: string;
  /** Lists where its configuration may be. @param project - the folder of the project. */
  files(world: World, project: string): readonly ConfigFile[];
  /** Reads what is to know before any file of it is judged, from files that are not changed. */
  rules?(world: World, project: string): Rules;
  /** Values of `type` of a server that it starts itself. @defaultValue `['stdio']` */
  readonly localTypes?: readonly string[] | undefined;
  /** Systems on which it was run behind unwedge; on others its files are as its makers document them. */
  readonly triedOn: readonly NodeJS.Platform[];
  /** Why one of its servers is left. */
  leavesServer?(program: Program): Reason;
  /** The longest that it lets a call of a server's tool take, in ms, when its entry says so. */
  callLimitMs?(program: Program): number | undefined;
  /** Size to which it cuts results itself without saying so truly, as `--max-result` has it. @defaultValue it says what it cuts */
  readonly maxResult?: string;
  readonly hooks?: HookRules | undefined;
  /** Steps that a person takes next, once something was changed. */
  readonly next: readonly string[];
}

/** Rules of other files on servers and hooks. */
export interface Rules {
  server(program: Program): Reason;
  /** Why no hook is wrapped. */
  readonly hooks: Reason;
}

/** Rules by which an agent runs hooks. */
export interface HookRules {
  /** Tells the time that it waits for one without a `timeout`, in ms; undefined: the hook finds out. */
  defaultMs(event: string): number | undefined;
  /** Length of the unit in which an entry says its limit, in ms. @defaultValue `1000` */
  readonly unitMs?: number | undefined;
  /** The longest that it waits in any case, in ms. */
  mostMs?(event: string): number | undefined;
  /** The shell that gets its line; undefined for one that is not known, so that only plain words are safe. */
  readonly shell: HookShell | undefined;
  /** Why one is left. */
  leaves(program: Program, document: Document): Reason;
  /** Tells whether a failure is to decline what the hook was asked about. */
  blocks(program: Program): boolean;
  /** Its hooks are wrapped when that is asked for, and why not else. */
  readonly onRequest?: string | undefined;
}

export const seconds = (count: number): number => count * 1000;

export const inMs = (count: number | undefined): number | undefined =>
  count === undefined ? undefined : seconds(count);
