import type { TreeNode } from '../../../src/supervisor/face.ts';
import type { RuntimeTree } from '../snapshot.ts';
import { useAsked } from './asked.ts';
import { Box, Empty, Head, To } from './box.tsx';
import { Moves, StateChart } from './chart.tsx';
import { State } from './glyph.tsx';
import { leavesOf, statesOf } from './inspected.ts';
import { charts } from './laidOut?charts';
import { tables } from './live.ts';
import { href, type ViewName } from './route.ts';
import { type Column, Table } from './table.tsx';
import { count, counted } from './words.ts';

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
      <Head
        title="Machines"
        end={
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
        }
      >
        {chart === undefined ? 'There is no machine of this name.' : `${name}: ${chart.summary}`}
      </Head>
      {chart !== undefined && <Machine key={name} name={name} />}
    </>
  );
}

function Machine({ name }: { readonly name: string }) {
  if (name !== 'integration' && name !== 'session') return <OfTrees name={name} />;
  const view = `${name}s` as const;
  const rows: readonly { readonly key: string; readonly state?: string | undefined }[] = tables[view].all.value;
  const actors = rows.flatMap(({ key, state }) => (state === undefined ? [] : [{ name: key, state, view }]));
  return <Shown name={name} actors={actors} />;
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
      <Box title="Who is where" note={`${counted(actors.length, 'actor')} now`}>
        {actors.length === 0 ? (
          <Empty title="Nobody is told of">
            {isTold
              ? `No live gateway runs a machine of this kind now.`
              : `Gateways do not tell of single actors of this kind: the chart shows what they can do.`}
          </Empty>
        ) : (
          <Table
            columns={columns}
            rows={[...byState].sort(([one], [other]) => (one < other ? -1 : 1))}
            keyOf={([state]) => state}
          />
        )}
      </Box>
      <Box title="What can happen">
        <Moves chart={chart} />
      </Box>
    </>
  );
}

const columns: readonly Column<[state: string, actors: readonly Actor[]]>[] = [
  { title: 'State', cell: ([state]) => <State of={state} /> },
  { title: 'How many', isNumber: true, cell: ([, actors]) => count(actors.length) },
  {
    title: 'Who',
    look: 'wrap',
    cell: ([, actors]) => (
      <>
        {actors
          .slice(0, mostNamed)
          .flatMap(({ name, view }, index) => [
            index > 0 && ', ',
            view === undefined ? <bdi key={name}>{name}</bdi> : <To key={name} view={view} name={name} />,
          ])}
        {actors.length > mostNamed && `, and ${count(actors.length - mostNamed)} more`}
      </>
    ),
  },
];

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
    <Box title="Circuit" note="live">
      <StateChart chart={chart} lit={new Map([[id, 1]])} />
    </Box>
  );
}
