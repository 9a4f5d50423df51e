import type { ComponentChildren } from 'preact';
import type { TreeNode } from '../../../src/supervisor/face.ts';
import type { RuntimeLine, RuntimeTree } from '../snapshot.ts';
import { useAsked } from './asked.ts';
import { Box, Empty, Head, To } from './box.tsx';
import { Cluster } from './cluster.tsx';
import { OrderButton } from './dialog.tsx';
import { State } from './glyph.tsx';
import { type Column, Table } from './table.tsx';
import { Ago, Countdown } from './times.tsx';
import { count } from './words.ts';

/** The supervision tree of each live gateway: what runs, what is being restarted, what is in quarantine. */
export function Processes() {
  const { answer, error } = useAsked<readonly RuntimeTree[]>('/api/trees', 1000);
  const live = answer?.filter(({ tree }) => tree !== undefined) ?? [];
  const nodes = live.flatMap(({ tree, at }) => (tree === undefined ? [] : rowsOf(tree, at)));
  const down = nodes.filter(({ node: { state } }) => state === 'quarantined' || state === 'restarting').length;
  return (
    <>
      <Head title="Processes">
        {answer === undefined
          ? ' '
          : down === 0
            ? live.length < answer.length
              ? `${answer.length - live.length} of ${answer.length} gateways ${answer.length - live.length === 1 ? 'does' : 'do'} not answer.`
              : 'Everything that should run runs.'
            : `${down} of ${nodes.length} do not run.`}
      </Head>
      {error !== '' && <p class="bar bad">{error}</p>}
      {answer?.length === 0 && (
        <section class="box">
          <Empty title="No live gateway answers">
            The supervision tree of each gateway that runs on the database is shown here.
          </Empty>
        </section>
      )}
      <Cluster />
      {live.map(({ runtime, at, tree }) => (
        <OfRuntime key={runtime.key} of={runtime}>
          <Table
            columns={columns}
            rows={tree === undefined ? [] : rowsOf(tree, at)}
            keyOf={({ path }) => path}
            attributes={({ depth }) => ({ 'data-row': true, style: { '--d': depth } })}
          />
        </OfRuntime>
      ))}
      {answer
        ?.filter(({ tree }) => tree === undefined)
        .map(({ runtime: { problem = 'it does not answer', isFrozen = false, ...runtime } }) => (
          // A gateway that runs, or may run, and does not say what.
          <OfRuntime key={runtime.key} of={runtime} state={isFrozen ? 'frozen' : 'not known'}>
            <p class="in dim">It cannot be asked: {problem.replaceAll('`', '')}.</p>
          </OfRuntime>
        ))}
    </>
  );
}

interface OfRuntimeProps {
  readonly of: Pick<RuntimeLine, 'name' | 'pid' | 'startedAt'>;
  readonly state?: string;
  readonly children: ComponentChildren;
}

function OfRuntime({ of: { name, pid, startedAt }, state = '', children }: OfRuntimeProps) {
  return (
    <Box
      label={`${name}, pid ${pid}`}
      title={<bdi>{name}</bdi>}
      note={
        <>
          pid {pid}, started <Ago at={startedAt} />
        </>
      }
      end={<State of={state} />}
    >
      {children}
    </Box>
  );
}

interface TreeRow {
  readonly node: TreeNode;
  readonly depth: number;
  readonly path: string;
  /** Time at which it was told. */
  readonly at: number;
}

function rowsOf(node: TreeNode, at: number, depth = 0, above = ''): readonly TreeRow[] {
  const path = `${above}/${node.id}`;
  const below = (node.children ?? []).flatMap((child) => rowsOf(child, at, depth + 1, path));
  return [{ node, depth, path, at }, ...below];
}

/** The integration or session that a child is; undefined for another. */
function subjectOf({ id }: TreeNode): { readonly of: 'integration' | 'session'; readonly name: string } | undefined {
  const [, kind, name] = /^(mcp|integration|session):(.*)$/s.exec(id) ?? [];
  return name === undefined ? undefined : { of: kind === 'session' ? kind : 'integration', name };
}

const columns: readonly Column<TreeRow>[] = [
  {
    title: 'Child',
    look: 'tn nw',
    cell({ node }) {
      const subject = subjectOf(node);
      return (
        <>
          {subject === undefined ? (
            <bdi>{node.id}</bdi>
          ) : (
            <To view={`${subject.of}s`} name={subject.name} text={node.id} look="" />
          )}
          {node.type === 'supervisor' && <span class="faint"> supervisor</span>}
        </>
      );
    },
  },
  { title: 'State', cell: ({ node }) => <State of={node.state} /> },
  { title: 'Machine', look: 'dim', cell: ({ node }) => node.machineState },
  { title: 'Started', isNumber: true, cell: ({ node }) => count(node.incarnation) },
  {
    title: 'Restarts',
    isNumber: true,
    look: ({ node }) => (node.restarts > 0 ? 'warn' : ''),
    cell: ({ node }) => count(node.restarts),
  },
  {
    title: 'Dead letters',
    isNumber: true,
    look: ({ node: { deadLetters = 0 } }) => (deadLetters > 0 ? 'warn' : ''),
    cell: ({ node }) => count(node.deadLetters ?? 0),
  },
  {
    title: 'Next restart',
    look: 'lb',
    label: 'Next restart in',
    cell: ({ node: { nextRestartInMs }, at }) =>
      nextRestartInMs !== undefined && <Countdown at={at + nextRestartInMs} />,
  },
  { title: 'Last error', look: 'cut mono dim', cell: ({ node }) => node.lastError },
  {
    title: 'Actions',
    cell({ node, depth }) {
      const subject = subjectOf(node);
      return subject !== undefined && depth > 0 && <OrderButton order="restart" {...subject} text="Restart…" />;
    },
  },
];
