import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { FailureKind } from '../../src/index.ts';
import type { ModelAnswer } from '../../testing/index.ts';
import { setup } from '../globalSetup.ts';
import { hasGoose } from './gooseEnv.ts';
import { startGooseWorkflow, todoOf, ways } from './gooseWorkflow.ts';

beforeAll(setup);

const items = { fetch: [], write: ['fetch'] };
const overloaded: ModelAnswer = { do: 'refuse', status: 529 };
const cut: ModelAnswer = { text: 'It is half', until: 'text', then: 'reset' };
const silent: ModelAnswer = { do: 'hang' };

/** Answers as a good model would: a plan where it is asked for one, else what it was asked to do. */
const good = (asked: string): ModelAnswer =>
  asked.includes('plan ')
    ? { text: JSON.stringify(todoOf(items)) }
    : { text: `${/item (\w+)/.exec(asked)?.[1] ?? 'nothing'} by goose` };

describe.skipIf(!hasGoose).each(ways)('a workflow over the real goose, %s', (way) => {
  it('[A-5] [W-5] plans in the form of the documents, does the items in their order, and sums up', async () => {
    const { gateway, goose, told } = await startGooseWorkflow(way, good);
    const outcome = await gateway.workflow('report', { backends: [goose] }).run('daily').outcome;
    expect(outcome).toMatchObject({ status: 'succeeded', summary: 'fetch by goose write by goose', fallbacks: [] });
    expect(told('workflow.goose.planned')).toMatchObject([{ mode: 'sequential', items: [{ id: 'fetch' }, {}] }]);
  });

  it('[A-5] [W-1] [W-6] goes on where the MCP server dies, does nothing twice, and a browser sees it', async () => {
    const act: ModelAnswer = { tool: { name: 'shell', input: { command: 'echo ran >> effect' } } };
    let acted = false;
    const { gateway, goose, primary, frames, cwd, told } = await startGooseWorkflow(
      way,
      (asked) => {
        if (!asked.includes('item write') || acted) return good(asked);
        acted = true;
        return act;
      },
      { tools: ['fetch'], faults: [{ tool: 'write', do: 'crash' }] },
    );
    const run = gateway.workflow('report', { backends: [primary(() => todoOf(items, 1)), goose] }).run('daily');
    const seen = frames(run);
    expect(await run.outcome).toMatchObject({
      status: 'succeeded',
      backend: 'goose',
      items: [
        { id: 'fetch', backend: 'mcp' },
        { id: 'write', backend: 'goose', value: 'write by goose', attempts: 1 },
      ],
    });
    expect(readFileSync(join(cwd, 'effect'), 'utf8')).toBe('ran\n');
    const reason = expect.stringContaining('write failed, which ends the run') as string;
    const frame = (await seen).find((line) => line.startsWith('data: {"type":"workflow_fallback","data":{'));
    expect(JSON.parse(frame?.slice(6) ?? '{}')).toMatchObject({ data: { from: 'mcp', to: 'goose', reason } });
    expect(told('workflow.mcp.failed')).toMatchObject([{ fallback: 'goose', breaker: 'closed', kind: 'crash' }]);
    expect(told('workflow.goose.completed')).toMatchObject([{ status: 'succeeded', done: 2 }]);
  });

  it('[A-5] [W-2] goes straight to goose once three runs of the MCP server have failed', async () => {
    const { gateway, goose, primary, tool, told } = await startGooseWorkflow(way, good, {
      faults: [{ tool: 'plan', do: 'error', message: 'HTTP 503' }],
    });
    const asksForPlan = primary(async (_, { signal }) => JSON.parse(await tool('plan', signal)) as never);
    const { run } = gateway.workflow('report', { backends: [asksForPlan, goose] });
    const reasons: (string | undefined)[] = [];
    for (let count = 0; count < 4; count++) {
      const { status, backend, fallbacks } = await run('daily').outcome;
      expect({ status, backend }).toEqual({ status: 'succeeded', backend: 'goose' });
      reasons.push(fallbacks[0]?.reason);
    }
    expect(reasons.slice(0, 3).every((reason) => reason?.includes('503'))).toBe(true);
    expect(reasons[3]).toBe('Circuit breaker OPEN - too many recent failures');
    expect(told('workflow.mcp.circuit_breaker_open')).toHaveLength(2);
  });

  it('[A-5] [W-3] aborts an MCP server that hangs, and gives goose a limit of its own', async () => {
    const { gateway, goose, primary, tool, told } = await startGooseWorkflow(way, good, {
      faults: [{ tool: 'plan', do: 'hang' }],
    });
    const hangs = primary(async (_, { signal }) => JSON.parse(await tool('plan', signal)) as never);
    const slow = { ...hangs, policy: { attemptMs: 2000 } };
    const { outcome } = gateway.workflow('report', { backends: [slow, goose] }).run('daily');
    expect(await outcome).toMatchObject({ status: 'succeeded', backend: 'goose' });
    expect(told('workflow_fallback')).toMatchObject([{ reason: 'mcp workflow timeout after 2s' }]);
  });

  it('[A-5] [W-4] [W-7] tries an item again whose answer broke off, skips what depends on a lost one, and goes on', async () => {
    const plan = todoOf({ fetch: [], write: ['fetch'], count: [] }, 2);
    const { gateway, goose, told, asked } = await startGooseWorkflow(way, (asked) => {
      if (asked.includes('plan ')) return { text: JSON.stringify(plan) };
      return asked.includes('item fetch') ? cut : good(asked);
    });
    const { outcome } = gateway.workflow('report', { backends: [goose] }).run('daily');
    expect(await outcome).toMatchObject({
      status: 'partial',
      items: [
        { id: 'fetch', status: 'failed', attempts: 2, failure: { kind: 'transient' } },
        { id: 'write', status: 'skipped', because: ['fetch'] },
        { id: 'count', status: 'done', value: 'count by goose' },
      ],
    });
    expect(told('workflow.goose.item_error')).toMatchObject([
      { item: 'fetch', attempt: 1, maxAttempts: 2, final: false, tools: ['shell'], servers: ['desk'] },
      { item: 'fetch', attempt: 2, maxAttempts: 2, final: true },
    ]);
    // the item alone is tried again, and goose does not repeat what broke off.
    expect(asked('item fetch')).toBe(2);
  });

  it('[A-5] [W-4] [I-2] does not do an item again that had acted when the answer broke off', async () => {
    const act: ModelAnswer = { tool: { name: 'shell', input: { command: 'echo ran >> effect' } } };
    let acted = false;
    const { gateway, goose, cwd } = await startGooseWorkflow(way, (asked) => {
      if (asked.includes('plan ')) return { text: JSON.stringify(todoOf(items)) };
      const answer = acted ? cut : act;
      acted = true;
      return answer;
    });
    const { status, items: ended } = await gateway.workflow('report', { backends: [goose] }).run('daily').outcome;
    expect({ status, ended }).toMatchObject({
      status: 'failed',
      ended: [{ id: 'fetch', status: 'failed', attempts: 1, failure: { outcome: 'unknown' } }, { status: 'skipped' }],
    });
    expect(readFileSync(join(cwd, 'effect'), 'utf8')).toBe('ran\n');
  });

  it.each<[string, ModelAnswer, readonly FailureKind[]]>([
    ['is overloaded', overloaded, ['overloaded', 'transient']],
    ['breaks off', cut, ['transient']],
    ['says nothing', silent, ['timeout']],
  ])('[A-5] [W-3] ends as a failure with both causes where the model of goose %s', async (_, answer, kinds) => {
    const { gateway, goose, primary, cwd } = await startGooseWorkflow(way, () => answer, {
      faults: [{ tool: 'fetch', do: 'tool_error' }],
    });
    // The plan is there: what fails is the work.
    const backends = [primary(() => todoOf(items, 1)), { ...goose, plan: () => todoOf(items, 1) }];
    const outcome = await gateway.workflow('report', { backends }).run('daily').outcome;
    expect(outcome).toMatchObject({
      status: 'failed',
      items: [
        { id: 'fetch', status: 'failed' },
        { id: 'write', status: 'skipped' },
      ],
    });
    const [fetched] = outcome.items;
    expect(kinds).toContain(fetched?.status === 'failed' ? fetched.failure.kind : undefined);
    const { cause } = outcome.failure ?? {};
    expect(cause).toBeInstanceOf(AggregateError);
    expect((cause as AggregateError).errors).toHaveLength(2);
    expect(existsSync(join(cwd, 'effect'))).toBe(false);
  });
});
