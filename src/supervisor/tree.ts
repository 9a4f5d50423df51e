import type { AnyActorRef } from 'xstate';
import type { Restart } from './childSpec.ts';
import { messageOf } from '../policy/failures/thrown.ts';
import { type Child, type ChildState, type Supervision, guard, nestedOf, sleepersOf } from './supervision.ts';

/** Supervisor or child, as the outside sees it. */
export interface TreeNode {
  readonly id: string;
  readonly type: 'worker' | 'supervisor';
  readonly state: ChildState;
  /** From 1; 0 before the first start, and of one that is asleep. */
  readonly incarnation: number;
  /** Restarts so far; of the root, those of all its children. */
  readonly restarts: number;
  readonly restart: Restart;
  /** Words of the last failure; kept after a successful restart. */
  readonly lastError?: string;
  /** The state of its machine; nested states as JSON. Live machines only. */
  readonly machineState?: string;
  /** Time until it is started again, in ms from now. */
  readonly nextRestartInMs?: number;
  /** Messages held for its next start; absent when there are none. */
  readonly queued?: number;
  /** Messages to it that were refused or dropped, of a supervisor all that went through it; absent when there were none. */
  readonly deadLetters?: number;
  /** Details of the live incarnation, by its spec's `details`. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** In start order, behind them those that are asleep; of live supervisors only. */
  readonly children?: readonly TreeNode[];
}

/** Number of children, by what they do. */
export interface ChildCount {
  /** Children in the table. */
  readonly specs: number;
  /** Live ones. */
  readonly active: number;
  /** Those that have no actor until something is for them; absent where none is so. */
  readonly asleep?: number;
  readonly restarting: number;
  readonly quarantined: number;
  readonly workers: number;
  readonly supervisors: number;
}

/** Direct child of a supervisor, with its actor; what OTP calls `which_children`. */
export interface ChildInfo {
  readonly id: string;
  /** The live incarnation; undefined between two. */
  readonly ref: AnyActorRef | undefined;
  readonly state: ChildState;
  readonly type: 'worker' | 'supervisor';
  readonly restart: Restart;
  /** From 1; 0 before the first start. */
  readonly incarnation: number;
}

/** The tree from a supervisor down. Never waits: children that are stopping are shown so. */
export function treeOf(supervision: Supervision): TreeNode {
  return {
    id: supervision.name,
    type: 'supervisor',
    state: supervision.state,
    incarnation: 1,
    restarts: supervision.restarts,
    restart: 'permanent',
    ...(supervision.deadLetters > 0 && { deadLetters: supervision.deadLetters }),
    children: childNodes(supervision),
  };
}

/** The direct children of a supervisor, in start order, behind them those that are asleep. */
export function listChildren(supervision: Supervision): ChildInfo[] {
  const started = Array.from(supervision.children.values(), ({ spec, ref, state, incarnation }) => ({
    id: spec.id,
    ref,
    state,
    type: spec.type,
    restart: spec.restart,
    incarnation,
  }));
  return [...started, ...sleeperNodes(supervision).map((node) => ({ ...node, ref: undefined }))];
}

/** Gives one direct child as the tree shows it, without walking the others; undefined when there is none of this id. */
export function nodeOf(supervision: Supervision, id: string): TreeNode | undefined {
  const child = supervision.children.get(id);
  if (child !== undefined) return childNode(supervision, child);
  return sleepersOf(supervision)?.get(id) && sleeperNode(id);
}

/** Counts the direct children of a supervisor. */
export function countChildren(supervision: Supervision): ChildCount {
  const asleep = sleeperNodes(supervision).length;
  const count = {
    specs: asleep,
    active: 0,
    ...(asleep > 0 && { asleep }),
    restarting: 0,
    quarantined: 0,
    workers: asleep,
    supervisors: 0,
  };
  for (const child of supervision.children.values()) {
    count.specs += 1;
    if (child.ref !== undefined) count.active += 1;
    if (child.state === 'restarting') count.restarting += 1;
    if (child.state === 'quarantined') count.quarantined += 1;
    if (child.spec.type === 'supervisor') count.supervisors += 1;
    else count.workers += 1;
  }
  return count;
}

function childNodes(supervision: Supervision): TreeNode[] {
  const started = [...supervision.children.values()].map((child) => childNode(supervision, child));
  return [...started, ...sleeperNodes(supervision)];
}

function sleeperNodes(supervision: Supervision): TreeNode[] {
  return Array.from(sleepersOf(supervision)?.ids() ?? [], sleeperNode);
}

function sleeperNode(id: string): TreeNode {
  return { id, type: 'worker', state: 'asleep', incarnation: 0, restarts: 0, restart: 'permanent' };
}

function childNode(supervision: Supervision, child: Child): TreeNode {
  const { spec, ref, plan, lastFailure } = child;
  const { surroundings } = supervision;
  const nested = nestedOf(supervision, child);
  const deadLetters = child.deadLetters + (nested?.deadLetters ?? 0);
  const machineState = ref === undefined || nested !== undefined ? undefined : machineStateOf(ref);
  const details = ref === undefined ? undefined : guard(surroundings, 'details', () => spec.details?.(ref));
  return {
    id: spec.id,
    type: spec.type,
    state: child.state,
    incarnation: child.incarnation,
    restarts: child.restarts,
    restart: spec.restart,
    ...(lastFailure !== undefined && { lastError: messageOf(lastFailure.error) }),
    ...(machineState !== undefined && { machineState }),
    ...(plan !== undefined && { nextRestartInMs: Math.max(0, Math.ceil(plan.at - surroundings.clock.now())) }),
    ...(child.held !== undefined && { queued: child.held.length }),
    ...(deadLetters > 0 && { deadLetters }),
    ...(details !== undefined && { details }),
    ...(nested !== undefined && { children: childNodes(nested) }),
  };
}

/** The state of a machine, or the one it failed in; nested states as JSON. Undefined for what is no machine. Never throws. */
export function machineStateOf(ref: AnyActorRef): string | undefined {
  try {
    const snapshot: unknown = ref.getSnapshot();
    if (typeof snapshot !== 'object' || snapshot === null || !('value' in snapshot)) return undefined;
    return typeof snapshot.value === 'string' ? snapshot.value : JSON.stringify(snapshot.value);
  } catch {
    // An actor that is being created has no snapshot yet.
    return undefined;
  }
}
