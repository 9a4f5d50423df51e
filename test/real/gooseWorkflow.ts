import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { agentKind } from '../../agents/conversation/agent.ts';
import { createGateway, unwrap } from '../../src/index.ts';
import type { Fact, FactOf, FactType } from '../../src/policy/facts/facts.ts';
import {
  type FaultyMcpServerOptions,
  type ModelAnswer,
  type ModelRequest,
  faultyModelApi,
} from '../../testing/index.ts';
import { serverSentEvents, type WorkflowBackend, type WorkflowPlan, workflowKind } from '../../workflow/index.ts';
import { faultyServer } from '../support/faultyServer.ts';
import { temporaryDirectory } from '../support/temporary.ts';
import { gooseEnv, goosePath } from './gooseEnv.ts';

/** The two ways in which goose is asked. */
export const ways = ['acp', 'headless'] as const;

type Way = (typeof ways)[number];
export type Backend = WorkflowBackend<string, string, string>;

/** A plan in the form of the documents: items by their ids, each with the ids it depends on. */
export const todoOf = (items: Readonly<Record<string, readonly string[]>>, maxAttempts?: number): WorkflowPlan => ({
  success: true,
  todo: {
    mode: 'sequential',
    items: Object.entries(items).map(([id, dependencies]) => ({
      ...{ id, action: `do ${id}`, tools_needed: ['shell'], mcp_servers: ['desk'], dependencies },
      ...(maxAttempts !== undefined && { max_attempts: maxAttempts }),
    })),
  },
});

/** Text of the last message of the user in a request of goose. */
function askedIn({ body }: ModelRequest): string {
  const { messages = [] } = JSON.parse(body === '' ? '{}' : body) as {
    messages?: readonly { role?: string; content?: unknown }[];
  };
  return JSON.stringify(messages.filter(({ role }) => role === 'user').at(-1)?.content ?? '');
}

/** A gateway with an MCP server as the primary and the real goose as the fallback, whose model answers by a function of what it is asked. */
export async function startGooseWorkflow(
  way: Way,
  model: (asked: string) => ModelAnswer,
  desk: FaultyMcpServerOptions = {},
) {
  const api = await faultyModelApi((request) => {
    const asked = askedIn(request);
    // Goose asks for a title of each conversation beside its work, with the same words in the request.
    return asked.includes('Generate a short title') ? { text: 'Some work' } : model(asked);
  });
  const home = temporaryDirectory();
  const cwd = join(home, 'work');
  mkdirSync(cwd);
  const env = gooseEnv(home, api.url);
  const gateway = createGateway({ store: ':memory:', control: false, kinds: [agentKind, workflowKind] });
  const facts: Fact[] = [];
  gateway.on('*', (fact) => void facts.push(fact));
  const server = gateway.mcpServer('desk', { ...faultyServer(desk), policy: { restartWaitMs: 20_000 } });
  const retry = { backoff: { kind: 'constant', delayMs: 10, jitter: { kind: 'none' } } } as const;
  const policy = { limits: { idleMs: 20_000 }, retry };
  const agent = gateway.agent('goose', { acp: { command: goosePath }, cwd, env, policy });
  const command = gateway.subprocess('goose-run', {
    ...{ command: goosePath, cwd, env, envMode: 'safe', policy },
    args: ['run', '-q', '--no-session', '--with-builtin', 'developer', '--output-format', 'stream-json', '-i', '-'],
  });
  await gateway.start();
  onTestFinished(async () => {
    await gateway.stop();
    await api.close();
  });

  const asks: Readonly<Record<Way, (prompt: string, signal: AbortSignal) => Promise<string>>> = {
    async acp(prompt, signal) {
      const conversation = unwrap(await agent.start({ signal }));
      try {
        return unwrap(await conversation.send(prompt, { signal }).outcome).text;
      } finally {
        await conversation.stop();
      }
    },
    headless: async (prompt, signal) => unwrap(await command.call({ prompt }, { signal })).agent?.text ?? '',
  };
  const ask = asks[way];
  const call = async (name: string, signal: AbortSignal): Promise<string> =>
    JSON.stringify(unwrap(await server.call({ name, arguments: {} }, { signal })).content);

  return {
    gateway,
    /** Requests for work whose last message of the user begins so. */
    asked: (begin: string) => api.requests.filter((each) => askedIn(each).startsWith(`"${begin}`)).length,
    cwd,
    facts,
    told: <T extends FactType>(type: T) => facts.filter((fact): fact is FactOf<T> => fact.type === type),
    /** Plans as it is told, and does an item by the tool of its id. */
    primary: (plan: Backend['plan']): Backend => ({
      ...{ name: 'mcp', plan, itemPolicy: { retry }, isCritical: () => true },
      item: ({ id }, { signal }) => call(id, signal),
    }),
    tool: call,
    goose: {
      name: 'goose',
      itemPolicy: { retry },
      plan: async (input, { signal }) => JSON.parse(await ask(`plan ${input}`, signal)) as WorkflowPlan,
      item: ({ id }, { signal }) => ask(`item ${id}`, signal),
      summary: (items) => items.map((item) => (item.status === 'done' ? item.value : item.status)).join(' '),
    } satisfies Backend,
    /** Frames of a run as a browser gets them. */
    frames: async (run: Parameters<typeof serverSentEvents>[0]): Promise<string[]> =>
      (await (await serverSentEvents(run)).text()).split('\n').filter((line) => line.startsWith('data: ')),
  };
}
