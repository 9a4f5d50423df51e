import { readFileSync } from 'node:fs';
import { SpanKind } from '@opentelemetry/api';
import { describe, expect, it } from 'vitest';
import type { TracedCall } from '../../src/calls/tracing.ts';
import {
  attributesOfFailure,
  conventions,
  mcpMethods,
  operations,
  own,
  shapeOf,
  shapeOfRequest,
  standard,
  withEarlierNames,
} from '../../otel/conventions.ts';
import { agentCalls, durations, tokenCounters } from '../../otel/instruments.ts';
import type { Failure } from '../../src/policy/failures/failure.ts';

interface Pinned {
  readonly sources: Readonly<Record<string, { readonly commit?: string; readonly version?: string }>>;
  readonly attributes: Readonly<Record<string, 'string' | 'int'>>;
  readonly values: Readonly<Record<string, readonly string[]>>;
  readonly metrics: Readonly<Record<string, { readonly required: readonly string[] }>>;
  readonly buckets: Readonly<Record<string, readonly number[]>>;
}

/** What the conventions of one version say of the names that are used here, by the files that it lists. */
const pinned = JSON.parse(
  readFileSync(new URL('../fixtures/otel/conventions.json', import.meta.url), 'utf8'),
) as Pinned;

const call: TracedCall = {
  integration: 'it',
  number: 1,
  type: 'function',
  tool: undefined,
  provider: undefined,
  model: undefined,
  label: undefined,
  session: undefined,
  method: undefined,
  server: undefined,
};
const shapes = {
  mcp: shapeOf({ ...call, type: 'mcp', tool: 'find' }),
  mcpList: shapeOf({ ...call, type: 'mcp' }),
  http: shapeOf({ ...call, type: 'http', method: 'post', server: { host: 'api.example', port: 443 } }),
  chat: shapeOf({ ...call, type: 'http', method: 'post', model: 'opus', modelApi: 'anthropic' }),
  mcpRequest: shapeOfRequest({
    protocol: 'mcp',
    integration: 'it',
    method: 'prompts/get',
    prompt: 'poem',
    from: undefined,
  }),
  httpRequest: shapeOfRequest({
    protocol: 'http',
    integration: 'it',
    method: 'POST',
    route: '/messages',
    from: undefined,
  }),
  agent: shapeOf({ ...call, type: 'claude', provider: 'anthropic', model: 'opus' }),
  command: shapeOf({ ...call, type: 'subprocess', provider: 'openai' }),
  workflow: shapeOf({ ...call, type: 'workflow', integration: 'workflow:deploy:primary' }),
  item: shapeOf({ ...call, type: 'workflow', integration: 'workflow:deploy:primary:items' }),
  tool: shapeOf({ ...call, tool: 'find' }),
  other: shapeOf(call),
};

describe('the names of spans, attributes and metrics', () => {
  it('[O-5] are those of the pinned conventions', () => {
    expect(Object.values(standard).filter((name) => !(name in pinned.attributes))).toEqual([]);
    expect(
      [...durations, ...tokenCounters, ...Object.values(agentCalls)]
        .map(([name]) => name)
        .filter((name) => !(name in pinned.metrics)),
    ).toEqual([]);
    expect(Object.entries(conventions)).toEqual(
      Object.entries(pinned.sources).map(([source, { commit, version }]) => [source, commit ?? version]),
    );
  });

  it('[O-5] are those that a workflow had before, where that is asked for, beside those of now', () => {
    for (const shape of [shapes.workflow, shapes.item]) {
      expect(shape.attributes).toMatchObject({ 'gen_ai.agent.name': 'deploy' });
      expect(shape.attributes).not.toHaveProperty(['gen_ai.workflow.name']);
      const both = { 'gen_ai.agent.name': 'deploy', 'gen_ai.workflow.name': 'deploy' };
      expect(withEarlierNames(shape).attributes).toMatchObject(both);
    }
    expect(withEarlierNames(shapes.agent)).toBe(shapes.agent);
  });

  it('[O-5] are in a namespace of our own where no convention has one', () => {
    expect(Object.values(own).filter((name) => !name.startsWith('unwedge.'))).toEqual([]);
  });

  it.each(Object.entries(shapes))('[O-5] have values of the conventions, of their type: %s', (_of, { attributes }) => {
    const wrong = Object.entries(attributes).filter(([name, value]) => {
      const type = pinned.attributes[name];
      if (type !== undefined && typeof value !== (type === 'int' ? 'number' : 'string')) return true;
      return pinned.values[name]?.includes(value as string) === false;
    });
    expect(wrong).toEqual([]);
  });

  it('[O-5] are those of an operation, a method and what it is of', () => {
    expect(Object.entries(shapes).map(([of, { name, spanKind }]) => [of, name, spanKind])).toEqual([
      ['mcp', `${mcpMethods.call} find`, SpanKind.CLIENT],
      ['mcpList', mcpMethods.list, SpanKind.CLIENT],
      ['http', 'POST', SpanKind.CLIENT],
      ['chat', `${operations.chat} opus`, SpanKind.CLIENT],
      ['mcpRequest', 'prompts/get poem', SpanKind.SERVER],
      ['httpRequest', 'POST /messages', SpanKind.SERVER],
      ['agent', `${operations.agent} it`, SpanKind.INTERNAL],
      ['command', `${operations.agent} it`, SpanKind.INTERNAL],
      ['workflow', `${operations.workflow} deploy`, SpanKind.INTERNAL],
      ['item', 'workflow item', SpanKind.INTERNAL],
      ['tool', `${operations.tool} find`, SpanKind.INTERNAL],
      ['other', 'call it', SpanKind.INTERNAL],
    ]);
    const odd = shapeOf({ ...call, type: 'http', method: 'BREW' });
    expect([odd.name, odd.attributes[standard.httpMethod]]).toEqual(['HTTP', '_OTHER']);
  });

  it('[O-5] each duration has what the conventions require of it, and their buckets', () => {
    for (const [name, bounds, kinds] of durations) {
      for (const kind of kinds) {
        const of = Object.values(shapes).filter((shape) => shape.kind === kind);
        expect(of.length).toBeGreaterThan(0);
        for (const { attributes } of of) {
          for (const required of pinned.metrics[name]?.required ?? []) expect(attributes).toHaveProperty([required]);
        }
      }
      expect(bounds).toEqual(pinned.buckets[name] ?? bounds);
    }
  });

  it.each<['mcp' | 'http' | 'other', Partial<Failure>, object]>([
    ['mcp', { kind: 'permanent', code: -32_602 }, { 'error.type': '-32602', 'rpc.response.status_code': '-32602' }],
    ['mcp', { kind: 'permanent', reason: 'tool_error' }, { 'error.type': 'tool_error' }],
    ['mcp', { kind: 'crash', reason: 'connection_lost', code: 137 }, { 'error.type': 'connection_lost' }],
    ['http', { kind: 'overloaded', status: 529 }, { 'error.type': '529', 'http.response.status_code': 529 }],
    ['http', { kind: 'transient', code: 'ECONNRESET' }, { 'error.type': 'transient' }],
    [
      'http',
      { kind: 'circuit_open', attempts: 2, cause: { kind: 'overloaded', status: 529 } },
      { 'error.type': '529', 'http.response.status_code': 529 },
    ],
    ['http', { kind: 'circuit_open', attempts: 0 }, { 'error.type': 'circuit_open' }],
    ['other', { kind: 'timeout', reason: 'idle_timeout', status: 500 }, { 'error.type': 'idle_timeout' }],
  ])(
    '[O-5] error.type is the answer of the other side, else the reason, else the kind: %s %j',
    (kind, failure, expected) => {
      expect(attributesOfFailure(kind, failure as Failure)).toEqual(expected);
    },
  );
});
