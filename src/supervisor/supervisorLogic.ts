import type { AnyActorRef, Snapshot } from 'xstate';
import type { ChildSpec } from './childSpec.ts';
import { createRestartWindow } from './restartWindow.ts';
import { stopSupervisor, stopSupervisorAtOnce } from './shutdown.ts';
import { startSupervisor } from './start.ts';
import { type SubtreeOptions, checkSubtreeOptions } from './supervisorOptions.ts';
import {
  type Supervision,
  type SupervisorInput,
  type SupervisorLogic,
  type SupervisorSnapshot,
  addChild,
} from './supervision.ts';
import { type TreeNode, treeOf } from './tree.ts';

/** Record that is kept of a supervisor: how its children were. It cannot be restored from; a restart starts the specs. */
type PersistedSupervisor = Snapshot<unknown> & { readonly children: readonly TreeNode[] };

/**
 * The actor logic of every supervisor: a table of children, mutated in place. Its `transition` never throws, as that would
 * leave all children running without anybody to look after them; what children do is heard by observers, not by events.
 */
export const supervisorLogic: SupervisorLogic = {
  getInitialSnapshot: (scope, input) => snapshotOf(createSupervision(input, scope.self, scope.stopChild)),
  start({ supervision }) {
    startSupervisor(supervision);
  },
  transition(snapshot, event) {
    const { supervision } = snapshot;
    switch (event.type) {
      case 'shutdown':
        void stopSupervisor(supervision);
        return snapshot;
      case 'supervisor.end':
        return { ...snapshot, status: 'done', output: event.output, error: undefined };
      case 'xstate.stop':
        stopSupervisorAtOnce(supervision);
        return { ...snapshot, status: 'stopped', output: undefined, error: undefined };
      default:
        return snapshot;
    }
  },
  getPersistedSnapshot({ supervision }) {
    const persisted: PersistedSupervisor = {
      status: 'active',
      output: undefined,
      error: undefined,
      children: treeOf(supervision).children ?? [],
    };
    return persisted;
  },
};

/**
 * The spec of a supervisor as a child of another one. Time, chance, facts and listeners are those of the tree.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const sessions = { ...supervisorSpec('sessions', { intensity: 100 }), restart: 'transient' };
 */
export function supervisorSpec(id: string, options: SubtreeOptions = {}): ChildSpec {
  checkSubtreeOptions(options);
  return { id, logic: supervisorLogic, type: 'supervisor', input: options };
}

function createSupervision(
  { path, root, options, surroundings }: SupervisorInput,
  self: AnyActorRef,
  stopAtOnce: (child: AnyActorRef) => void,
): Supervision {
  const checked = checkSubtreeOptions(options);
  const supervision: Supervision = {
    name: path.at(-1) ?? 'root',
    path,
    root,
    options: checked,
    surroundings,
    self,
    stopAtOnce,
    logic: supervisorLogic,
    children: new Map(),
    window: createRestartWindow(checked.intensity, checked.periodMs),
    state: 'stopped',
    restarts: 0,
    deadLetters: 0,
    stopped: undefined,
  };
  for (const spec of checked.children) addChild(supervision, spec);
  return supervision;
}

function snapshotOf(supervision: Supervision): SupervisorSnapshot {
  return {
    status: 'active',
    output: undefined,
    error: undefined,
    supervision,
    can: ({ type }) => type === 'shutdown',
    toJSON: () => treeOf(supervision),
  };
}
