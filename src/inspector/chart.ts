import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** A statechart as plain data: what a machine's definition says, without its code. */
export interface Chart {
  readonly machine: string;
  readonly states: readonly ChartState[];
  readonly transitions: readonly ChartTransition[];
}

export interface ChartState {
  /** Path of its keys from the machine, joined by dots; empty for the machine itself. */
  readonly id: string;
  /** The state it is part of; absent for the machine itself. */
  readonly parent?: string | undefined;
  readonly type: 'atomic' | 'compound' | 'parallel' | 'final' | 'history';
  /** State in which a compound state begins. */
  readonly initial?: string | undefined;
  readonly entry: readonly string[];
  readonly exit: readonly string[];
  /** The slots it fills while it lasts. */
  readonly invokes: readonly string[];
}

export interface ChartTransition {
  readonly from: string;
  /** Absent where the state is not left. */
  readonly to?: string | undefined;
  /** The event; `after NAME` for a delay, empty where no event is needed. */
  readonly on: string;
  readonly guard?: string | undefined;
  readonly actions: readonly string[];
}

/** Reads the chart out of the machine that runs, so that what is drawn cannot differ from it. */
export function chartOf(machine: AnyStateMachine): Chart {
  const nodes = withDescendants(machine.root);
  return {
    machine: machine.id,
    states: nodes.map(stateOf),
    transitions: nodes.flatMap((node) => transitionsOf(node).map((transition) => edgeOf(node, transition))),
  };
}

/** A transition that a machine took, as its chart has it. */
export function transitionOf(taken: AnyTransitionDefinition): ChartTransition {
  return edgeOf(taken.source, taken);
}

function withDescendants(node: AnyStateNode): readonly AnyStateNode[] {
  return [node, ...Object.values(node.states).flatMap((child) => withDescendants(child))];
}

function stateOf(node: AnyStateNode): ChartState {
  const initial = node.type === 'compound' ? node.initial.target?.[0] : undefined;
  return {
    id: idOf(node),
    ...(node.parent !== undefined && { parent: idOf(node.parent) }),
    type: node.type,
    ...(initial !== undefined && { initial: idOf(initial) }),
    entry: named(node.entry),
    exit: named(node.exit),
    invokes: node.invoke.map(({ id }) => id),
  };
}

/** In the order in which they are tried. */
function transitionsOf(node: AnyStateNode): readonly AnyTransitionDefinition[] {
  return [...(node.always ?? []), ...[...node.transitions.values()].flat()];
}

function edgeOf(node: AnyStateNode, { target, eventType, guard, actions }: AnyTransitionDefinition): ChartTransition {
  const to = target?.[0];
  const condition = guard === undefined ? undefined : nameOf(guard);
  return {
    from: idOf(node),
    ...(to !== undefined && { to: idOf(to) }),
    on: eventName(eventType as string),
    ...(condition !== undefined && { guard: condition }),
    actions: named(actions),
  };
}

function idOf(node: AnyStateNode): string {
  return node.path.join('.');
}

/** Without what XState adds itself, such as the start of a delay. */
function named(actions: readonly unknown[]): readonly string[] {
  return actions.map(nameOf).filter((name) => !name.startsWith('xstate.'));
}

function nameOf(given: unknown): string {
  if (typeof given === 'string') return given;
  const { type, name } = given as { readonly type?: unknown; readonly name?: unknown };
  return typeof type === 'string' ? type : typeof name === 'string' && name !== '' ? name : 'inline';
}

const delayed = /^xstate\.after\.([^.]+)\./;
const invoked = /^xstate\.(done|error)\.actor\.(.+)$/;

function eventName(eventType: string): string {
  const delay = delayed.exec(eventType)?.[1];
  if (delay !== undefined) return `after ${delay}`;
  const [, end, slot] = invoked.exec(eventType) ?? [];
  return slot === undefined ? eventType : `${slot} ${end === 'done' ? 'ended' : 'failed'}`;
}
