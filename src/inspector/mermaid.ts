import type { Chart, ChartState, ChartTransition } from './chart.ts';

/** The chart as a Mermaid state diagram, which Markdown viewers draw. */
export function mermaidOf({ states, transitions }: Chart): string {
  const lines = ['stateDiagram-v2'];
  const draw = (parent: string, indent: string): void => {
    const initial = states.find(({ id }) => id === parent)?.initial;
    if (initial !== undefined) lines.push(`${indent}[*] --> ${nodeName(initial)}`);
    for (const state of states.filter((each) => each.parent === parent)) {
      const name = nodeName(state.id);
      const declaration = `${indent}state "${state.id.slice(state.id.lastIndexOf('.') + 1)}" as ${name}`;
      if (state.initial === undefined) {
        lines.push(declaration, ...deeds(state).map((deed) => `${indent}${name} : ${deed}`));
        continue;
      }
      lines.push(`${declaration} {`);
      draw(state.id, `${indent}  `);
      lines.push(`${indent}}`);
    }
  };
  draw('', '  ');
  for (const { id, type } of states) if (type === 'final') lines.push(`  ${nodeName(id)} --> [*]`);
  const [everywhere, drawn] = parted(transitions, ({ from, to }) => from === '' && to === undefined);
  for (const transition of drawn) {
    for (const from of sources(transition, states, transitions)) lines.push(edge(from, transition));
  }
  // Mermaid takes no description of a state that has others in it.
  for (const state of states)
    if (state.id !== '' && state.initial !== undefined) lines.push(...note(state.id, deeds(state)));
  const everyState = everywhere.map(labelOf);
  if (everyState.length > 0)
    lines.push(...note(firstOf(states), ['in every state that does not say otherwise:', ...everyState]));
  return `${lines.join('\n')}\n`;
}

/** Mermaid has no edge from the whole diagram: what the machine does in every state leads from each that does not do otherwise. */
function sources(
  { from, on }: ChartTransition,
  states: readonly ChartState[],
  transitions: readonly ChartTransition[],
): readonly string[] {
  if (from !== '') return [from];
  return states
    .filter(({ id, parent, type }) => parent === '' && type !== 'final' && !handles(id, on, transitions))
    .map(({ id }) => id);
}

const handles = (id: string, event: string, transitions: readonly ChartTransition[]): boolean =>
  transitions.some(({ from, on }) => from === id && on === event);

function note(id: string, lines: readonly string[]): readonly string[] {
  if (lines.length === 0) return [];
  return [`  note right of ${nodeName(id)}`, ...lines.map((line) => `    ${line}`), '  end note'];
}

function firstOf(states: readonly ChartState[]): string {
  return states.find(({ id }) => id === '')?.initial ?? '';
}

function parted<T>(items: readonly T[], belongs: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(belongs), items.filter((item) => !belongs(item))];
}

function edge(from: string, transition: ChartTransition): string {
  return `  ${nodeName(from)} --> ${nodeName(transition.to ?? from)} : ${labelOf(transition)}`;
}

function labelOf({ on, guard, actions }: ChartTransition): string {
  const condition = guard === undefined ? '' : ` [${guard}]`;
  const effects = actions.length === 0 ? '' : ` / ${actions.join(', ')}`;
  return `${on}${condition}${effects}`.trim();
}

function deeds({ entry, exit, invokes }: ChartState): readonly string[] {
  return [
    ...entry.map((action) => `entry / ${action}`),
    ...invokes.map((slot) => `invokes ${slot}`),
    ...exit.map((action) => `exit / ${action}`),
  ];
}

/** Mermaid's names are words. */
function nodeName(id: string): string {
  return id.replace(/\W/g, '_');
}
