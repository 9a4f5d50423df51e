import type { RuntimeLine, RuntimeTree } from '../snapshot.ts';
import type { TreeNode } from '../../../src/supervisor/tree.ts';
import { useAsked } from './asked.ts';
import { Cluster } from './cluster.tsx';
import { OrderButton } from './dialog.tsx';
import { Empty } from './empty.tsx';
import { State } from './glyph.tsx';
import { href } from './route.ts';
import { Table } from './table.tsx';
import { Ago, Countdown } from './times.tsx';
import { count } from './words.ts';

/** The supervision tree of each live gateway: what runs, what is being restarted, what is in quarantine. */
export function Processes() {
  const { answer, error } = useAsked<readonly RuntimeTree[]>('/api/trees', 1000);
  const live = answer?.filter(({ tree }) => tree !== undefined) ?? [];
  const nodes = live.flatMap(({ tree }) => (tree === undefined ? [] : rowsOf(tree, 0))).map(({ node }) => node);
  const down = nodes.filter(({ state }) => state === 'quarantined' || state === 'restarting').length;
  return (
    <>
      <div class="head">
        <div>
          <h1 tabIndex={-1}>Processes</h1>
          <p class="dim">
            {answer === undefined
              ? ' '
              : down === 0
                ? live.length < answer.length
                  ? `${answer.length - live.length} of ${answer.length} gateways ${answer.length - live.length === 1 ? 'does' : 'do'} not answer.`
                  : 'Everything that should run runs.'
                : `${down} of ${nodes.length} do not run.`}
          </p>
        </div>
      </div>
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
        <section key={runtime.key} class="box" aria-label={`${runtime.name}, pid ${runtime.pid}`}>
          <div class="sh">
            <h2>
              <bdi>{runtime.name}</bdi>
            </h2>
            <span class="faint">
              pid {runtime.pid}, started <Ago at={runtime.startedAt} />
            </span>
          </div>
          <Table
            columns={[
              { title: 'Child' },
              { title: 'State' },
              { title: 'Machine' },
              { title: 'Started', isNumber: true },
              { title: 'Restarts', isNumber: true },
              { title: 'Dead letters', isNumber: true },
              { title: 'Next restart' },
              { title: 'Last error' },
              { title: 'Actions' },
            ]}
          >
            {tree !== undefined &&
              rowsOf(tree, 0).map(({ node, depth, path }) => <Child key={path} node={node} depth={depth} at={at} />)}
          </Table>
        </section>
      ))}
      {answer
        ?.filter(({ tree }) => tree === undefined)
        .map(({ runtime }) => (
          <Silent key={runtime.key} of={runtime} />
        ))}
    </>
  );
}

/** A gateway that runs, or may run, and does not say what. */
function Silent({ of }: { readonly of: RuntimeLine }) {
  const { name, pid, startedAt, isFrozen = false, problem } = of;
  return (
    <section class="box" aria-label={`${name}, pid ${pid}`}>
      <div class="sh">
        <h2>
          <bdi>{name}</bdi>
        </h2>
        <State of={isFrozen ? 'frozen' : 'not known'} />
        <span class="faint">
          pid {pid}, started <Ago at={startedAt} />
        </span>
      </div>
      <p class="in dim">It cannot be asked: {(problem ?? 'it does not answer').replaceAll('`', '')}.</p>
    </section>
  );
}

interface TreeRow {
  readonly node: TreeNode;
  readonly depth: number;
  readonly path: string;
}

function rowsOf(node: TreeNode, depth: number, above = ''): readonly TreeRow[] {
  const path = `${above}/${node.id}`;
  return [{ node, depth, path }, ...(node.children ?? []).flatMap((child) => rowsOf(child, depth + 1, path))];
}

function Child({ node, depth, at }: { readonly node: TreeNode; readonly depth: number; readonly at: number }) {
  const { id, type, state, machineState, incarnation, restarts, deadLetters = 0, nextRestartInMs, lastError } = node;
  const [, kind, name] = /^(mcp|integration|session):(.*)$/s.exec(id) ?? [];
  const of = kind === 'session' ? 'session' : 'integration';
  return (
    <tr data-row style={{ '--d': depth }}>
      <td class="tn nw">
        {name === undefined ? (
          <bdi>{id}</bdi>
        ) : (
          <a href={href(of === 'session' ? 'sessions' : 'integrations', name)}>
            <bdi>{id}</bdi>
          </a>
        )}
        {type === 'supervisor' && <span class="faint"> supervisor</span>}
      </td>
      <td>
        <State of={state} />
      </td>
      <td class="dim">{machineState}</td>
      <td class="num" data-l="Started">
        {count(incarnation)}
      </td>
      <td class={`num ${restarts > 0 ? 'warn' : ''}`} data-l="Restarts">
        {count(restarts)}
      </td>
      <td class={`num ${deadLetters > 0 ? 'warn' : ''}`} data-l="Dead letters">
        {count(deadLetters)}
      </td>
      <td class="lb" data-l="Next restart in">
        {nextRestartInMs !== undefined && <Countdown at={at + nextRestartInMs} />}
      </td>
      <td class="cut mono dim">{lastError}</td>
      <td data-l="Actions">
        {name !== undefined && depth > 0 && <OrderButton order="restart" name={name} of={of} text="Restart…" />}
      </td>
    </tr>
  );
}
