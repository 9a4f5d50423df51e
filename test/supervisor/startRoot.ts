import type { AnyEventObject } from 'xstate';
import type { Fact, FactType } from '../../src/policy/facts/facts.ts';
import type { ChildSpec } from '../../src/supervisor/childSpec.ts';
import { type RootSupervisor, type SupervisorOptions, createRootSupervisor } from '../../src/supervisor/supervisor.ts';
import type { TreeNode } from '../../src/supervisor/tree.ts';
import { SimulatedClock } from '../../testing/simulatedClock.ts';

export interface StartedRoot {
  readonly root: RootSupervisor;
  readonly clock: SimulatedClock;
  readonly facts: Fact[];
  /** `child.started` and `child.stopped` or `child.crashed` as `+a`, `-a`, `!a`, in order. */
  readonly journal: string[];
  readonly emitted: [string, AnyEventObject][];
  readonly told: (type: FactType) => Fact[];
  readonly node: (id: string) => TreeNode | undefined;
  /** Makes a child throw in an action. */
  readonly crash: (id: string) => void;
}

const marks: Partial<Record<FactType, string>> = { 'child.started': '+', 'child.stopped': '-', 'child.crashed': '!' };

/** A root that is not started: simulated time, no jitter, everything it tells is kept. */
export function newRoot(options: Partial<SupervisorOptions> = {}): StartedRoot {
  const clock = new SimulatedClock();
  const facts: Fact[] = [];
  const journal: string[] = [];
  const emitted: [string, AnyEventObject][] = [];
  const root = createRootSupervisor({
    clock,
    random: () => 0.5,
    facts: {
      tell(fact) {
        facts.push(fact);
        const mark = marks[fact.type];
        if (mark !== undefined && 'child' in fact) journal.push(mark + fact.child);
      },
      wants: () => true,
    },
    onEmit: (child, event) => emitted.push([child, event]),
    ...options,
  });
  return {
    root,
    clock,
    facts,
    journal,
    emitted,
    told: (type) => facts.filter((fact) => fact.type === type),
    node: (id) => root.tree().children?.find((child) => child.id === id),
    crash: (id) => void root.send(id, { type: 'crash' }),
  };
}

/** A started root with these children. */
export function startRoot(children: readonly ChildSpec[], options: Partial<SupervisorOptions> = {}): StartedRoot {
  const started = newRoot({ children, ...options });
  started.root.start();
  return started;
}
