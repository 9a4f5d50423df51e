import type { TreeNode } from '../../../src/supervisor/tree.ts';
import type { RuntimeTree } from '../snapshot.ts';
import { useAsked } from './asked.ts';
import { Moves, StateChart } from './chart.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { charts } from './laidOut?charts';
import { href, type ViewName } from './route.ts';
import { leavesOf, statesOf } from './stateNames.ts';
import { Table } from './table.tsx';
import { count, counted } from './words.ts';
import { tables } from './tables.ts';

/** An actor, and the state of its machine as it is told: nested states as JSON. */
interface Actor {
  readonly name: string;
  readonly state: string;
  readonly view?: ViewName | undefined;
}

/** Names that are listed of one state. */
const mostNamed = 30;

/** The machines of the runtime, and who is in which state of them now. */
export function Machines({ name = 'integration' }: { readonly name?: string | undefined }) {
  const chart = charts.find((each) => each.name === name);
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Machines</h1>
          <p class="dim">{chart === undefined ? 'There is no machine of this name.' : `${name}: ${chart.summary}`}</p>
        </div>
        <div class="seg" role="group" aria-label="Which machine">
          {charts.map((each) => (
            <button
              key={each.name}
              type="button"
              aria-pressed={each.name === name}
              onClick={() => {
                location.hash = href('machines', each.name);
              }}
            >
              {each.name}
            </button>
          ))}
        </div>
      </div>
      {chart !== undefined && <Machine key={name} name={name} />}
    </>
  );
}

function Machine({ name }: { readonly name: string }) {
  switch (name) {
    case 'integration':
      return <Shown name={name} actors={integrationActors()} />;
    case 'session':
      return <Shown name={name} actors={sessionActors()} />;
    default:
      return <OfTrees name={name} />;
  }
}

function integrationActors(): readonly Actor[] {
  return tables.integrations.all.value.flatMap(({ key, state }) =>
    state === undefined ? [] : [{ name: key, state, view: 'integrations' as const }],
  );
}

function sessionActors(): readonly Actor[] {
  return tables.sessions.all.value.flatMap(({ key, state }) =>
    state === undefined ? [] : [{ name: key, state, view: 'sessions' as const }],
  );
}

/** Children of the supervision tree that run a machine, by how their ids begin. */
const children: Readonly<Record<string, RegExp>> = { connection: /^(?:mcp|codex):/, workflow: /^workflow:/ };

function OfTrees({ name }: { readonly name: string }) {
  const { answer = [] } = useAsked<readonly RuntimeTree[]>('/api/trees', 2000);
  const ids = children[name];
  const nodes = answer.flatMap(({ tree }) => (tree === undefined ? [] : withinTree(tree)));
  const actors = nodes.flatMap(({ id, machineState }) =>
    ids?.test(id) === true && machineState !== undefined ? [{ name: id, state: machineState }] : [],
  );
  return <Shown name={name} actors={actors} isTold={ids !== undefined} />;
}

function withinTree(node: TreeNode): readonly TreeNode[] {
  return [node, ...(node.children ?? []).flatMap(withinTree)];
}

interface ShownProps {
  readonly name: string;
  readonly actors: readonly Actor[];
  /** True where gateways tell of those that run it. @defaultValue true */
  readonly isTold?: boolean;
}

function Shown({ name, actors, isTold = true }: ShownProps) {
  const chart = charts.find((each) => each.name === name);
  if (chart === undefined) return null;
  const byState = new Map<string, Actor[]>();
  const lit = new Map<string, number>();
  for (const actor of actors) {
    const ids = statesIn(actor.state);
    for (const id of ids) lit.set(id, (lit.get(id) ?? 0) + 1);
    const leaf = leavesOf(ids).join(', ');
    byState.set(leaf, [...(byState.get(leaf) ?? []), actor]);
  }
  return (
    <>
      <section class="box" aria-label={`Chart of ${name}`}>
        <StateChart chart={chart} lit={lit} />
      </section>
      <section class="box" aria-label="Who is where">
        <div class="sh">
          <h2>Who is where</h2>
          <span class="faint">{counted(actors.length, 'actor')} now</span>
        </div>
        {actors.length === 0 ? (
          <Empty title="Nobody is told of">
            {isTold
              ? `No live gateway runs a machine of this kind now.`
              : `Gateways do not tell of single actors of this kind: the chart shows what they can do.`}
          </Empty>
        ) : (
          <Table columns={[{ title: 'State' }, { title: 'How many', isNumber: true }, { title: 'Who' }]}>
            {[...byState]
              .sort(([one], [other]) => (one < other ? -1 : 1))
              .map(([state, all]) => (
                <tr key={state} data-row>
                  <td>
                    <State of={state} />
                  </td>
                  <td class="num" data-l="How many">
                    {count(all.length)}
                  </td>
                  <td class="wrap">
                    {all.slice(0, mostNamed).map((actor, index) => (
                      <Name key={actor.name} actor={actor} isFirst={index === 0} />
                    ))}
                    {all.length > mostNamed && `, and ${count(all.length - mostNamed)} more`}
                  </td>
                </tr>
              ))}
          </Table>
        )}
      </section>
      <section class="box" aria-label="What can happen">
        <div class="sh">
          <h2>What can happen</h2>
        </div>
        <Moves chart={chart} />
      </section>
    </>
  );
}

function Name({ actor: { name, view }, isFirst }: { readonly actor: Actor; readonly isFirst: boolean }) {
  return (
    <>
      {!isFirst && ', '}
      {view === undefined ? (
        <bdi>{name}</bdi>
      ) : (
        <a class="link" href={href(view, name)}>
          <bdi>{name}</bdi>
        </a>
      )}
    </>
  );
}

/** The states that a state as it is told stands for, outer ones first: `{"a":"b"}` is `a` and `a.b`. */
function statesIn(text: string): readonly string[] {
  if (!text.startsWith('{')) return [text];
  try {
    return statesOf(JSON.parse(text));
  } catch {
    return [text];
  }
}

/** The machine of one integration, in the state it is in. */
export function CircuitChart({ state }: { readonly state: string }) {
  const chart = charts.find(({ name }) => name === 'integration');
  if (chart === undefined) return null;
  // A circuit that is held open is in no state of its own.
  const id = state === 'isolated' ? 'open' : state;
  return (
    <section class="box" aria-label="Circuit">
      <div class="sh">
        <h2>Circuit</h2>
        <span class="faint">live</span>
      </div>
      <StateChart chart={chart} lit={new Map([[id, 1]])} />
    </section>
  );
}
