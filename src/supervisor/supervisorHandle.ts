import type { AnyActorRef, EventObject } from 'xstate';
import { checkChildSpec, type ChildSpec } from './childSpec.ts';
import type { Exit } from './exit.ts';
import { discardHeld, sendToChild } from './mailbox.ts';
import { restartByHand } from './restart.ts';
import { stopChild } from './shutdown.ts';
import { startNewChild } from './start.ts';
import { hastenPlan, leavePlan } from './startPlan.ts';
import {
  type ChildState,
  type ExitListener,
  guard,
  isActive,
  nestedOf,
  removeChild,
  sleepersOf,
  type Supervision,
} from './supervision.ts';
import { checkSignificance, checkUnique } from './supervisorOptions.ts';
import { type ChildCount, type ChildInfo, countChildren, listChildren, nodeOf, type TreeNode, treeOf } from './tree.ts';

/** Handle of a supervisor, the root or a nested one. */
export interface Supervisor {
  /**
   * Adds a child and starts it.
   * @returns its first incarnation (already over, if it ended at once without a failure).
   * @throws TypeError or RangeError for a bad spec, an id or `systemId` that is taken, or a supervisor that is not running.
   * @throws Error naming the child when it failed to start; it leaves no trace then, and is not retried.
   */
  startChild(spec: ChildSpec): AnyActorRef;
  /** Stops a child in order and keeps its spec (of a temporary one nothing). Always resolves, for an unknown id at once. */
  stopChild(id: string): Promise<void>;
  /**
   * Starts a stopped or quarantined child on the next turn of the event loop, one that is asleep at once, restarts a live one after its orderly end;
   * one that is starting is left alone.
   * @throws RangeError for an unknown id or a supervisor that is not running.
   */
  restartChild(id: string): void;
  /** Starts a child that waits for its restart on the next turn of the event loop; its series goes on. Others are left alone. */
  hasten(id: string): void;
  /**
   * Removes the spec of a child that is stopped or in quarantine; unknown ids are ignored.
   * @throws RangeError when the child is live or on its way back.
   */
  deleteChild(id: string): void;
  /** Tells whether there is a child of this id, live or not. */
  has(id: string): boolean;
  /** Tells what a child is doing. */
  state(id: string): ChildState | undefined;
  /** The live incarnation of a child. */
  ref(id: string): AnyActorRef | undefined;
  /**
   * Sends to the live incarnation of a child, or holds the message for its next one where the child has a `mailbox`.
   * @returns false when neither was possible. That, and each message that a full mailbox drops, is told as `message.dead_letter`.
   */
  send(id: string, event: EventObject): boolean;
  /** The live actor of this `systemId`, anywhere in the tree. */
  whereis(name: string): AnyActorRef | undefined;
  /** The live supervisor behind a child. It is another one after a restart of that child. */
  nested(id: string): Supervisor | undefined;
  tree(): TreeNode;
  /** Gives one direct child as the tree shows it; undefined when there is none of this id. */
  node(id: string): TreeNode | undefined;
  /** Its direct children in start order, behind them those that are asleep; those of a nested supervisor are `nested(id)?.children()`. */
  children(): readonly ChildInfo[];
  count(): ChildCount;
  /**
   * Tells the end of the live incarnation of a child, once; of one that is not live, its last end.
   * @returns a function that ends the watch.
   */
  monitor(id: string, callback: ExitListener): () => void;
  /** Ends a child's series of restarts, as if it had been stable long enough: its next restart waits as the first. */
  markStable(id: string): void;
}

/** The handle of a supervision. */
export function supervisorHandle(supervision: Supervision): Supervisor {
  const { children } = supervision;
  const sleeper = (id: string) => sleepersOf(supervision)?.get(id);
  const whereis = (name: string): AnyActorRef | undefined =>
    supervision.self.system.get(name) as AnyActorRef | undefined;
  return {
    startChild(spec) {
      checkActive(supervision);
      const checked = checkChildSpec(spec);
      checkUnique('id', checked.id, (id) => children.has(id));
      if (checked.systemId !== undefined)
        checkUnique('systemId', checked.systemId, (name) => whereis(name) !== undefined);
      checkSignificance(checked, supervision.options.autoShutdown);
      return startNewChild(supervision, checked);
    },
    async stopChild(id) {
      const child = children.get(id);
      if (child !== undefined) await stopChild(supervision, child);
    },
    restartChild(id) {
      checkActive(supervision);
      const child = children.get(id);
      if (child === undefined && sleeper(id) !== undefined) return sleeper(id)?.wake();
      if (child === undefined) throw new RangeError(`Supervisor \`${supervision.name}\` has no child \`${id}\``);
      restartByHand(supervision, child);
    },
    hasten(id) {
      const child = children.get(id);
      if (child?.state === 'restarting' && child.plan !== undefined) hastenPlan(supervision, child.plan);
    },
    deleteChild(id) {
      const child = children.get(id);
      if (child === undefined) return;
      if (child.state !== 'stopped' && child.state !== 'quarantined') {
        throw new RangeError(`Expected child \`${id}\` to be stopped or quarantined, it is ${child.state}`);
      }
      leavePlan(supervision, child);
      removeChild(supervision, child);
      discardHeld(supervision, child, 'stopped');
    },
    has: (id) => children.has(id) || sleeper(id) !== undefined,
    state: (id) => children.get(id)?.state ?? (sleeper(id) && 'asleep'),
    ref: (id) => children.get(id)?.ref,
    send: (id, event) => sendToChild(supervision, id, event),
    whereis,
    nested(id) {
      const child = children.get(id);
      const nested = child === undefined ? undefined : nestedOf(supervision, child);
      return nested === undefined ? undefined : supervisorHandle(nested);
    },
    tree: () => treeOf(supervision),
    node: (id) => nodeOf(supervision, id),
    children: () => listChildren(supervision),
    count: () => countChildren(supervision),
    monitor: (id, callback) => watchChild(supervision, id, callback),
    markStable(id) {
      const child = children.get(id);
      if (child !== undefined) child.series = 0;
    },
  };
}

function checkActive(supervision: Supervision): void {
  if (isActive(supervision)) return;
  throw new RangeError(`Expected supervisor \`${supervision.name}\` to be running, it is ${supervision.state}`);
}

/**
 * Tells `callback` once how the live incarnation of a child ends. Of a child that is not live it tells the last end, in
 * the next microtask; of one that never was, a `failure` that says so.
 * @returns a function that ends the watch; the callback is not called after it.
 */
function watchChild(supervision: Supervision, id: string, callback: ExitListener): () => void {
  const child = supervision.children.get(id);
  if (child?.ref !== undefined) {
    child.watchers ??= new Set();
    const { watchers } = child;
    watchers.add(callback);
    return () => {
      watchers.delete(callback);
    };
  }
  const exit: Exit = child?.lastExit ?? {
    reason: 'failure',
    error: new Error(`Supervisor \`${supervision.name}\` has no live child \`${id}\``),
  };
  let watching = true;
  queueMicrotask(() => {
    if (watching) guard(supervision.surroundings, 'monitor', () => callback(exit, child?.incarnation ?? 0));
  });
  return () => {
    watching = false;
  };
}
