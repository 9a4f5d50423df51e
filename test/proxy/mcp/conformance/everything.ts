import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { expect } from 'vitest';
import type { WireMessage } from './recording.ts';
import type { Scenario, Session } from './session.ts';
import { installed } from './ways.ts';

const server = (): readonly string[] => [installed('everything')];
const isNotification =
  (method: string) =>
  (message: WireMessage): boolean =>
    message.method === `notifications/${method}`;
const textOf = (result: object): string => JSON.stringify((result as { content?: unknown }).content);
const refusal = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'answered',
    (error: unknown) => error,
  );

/** What a client can do with the reference server that has every feature of the protocol. */
export const everything: readonly Scenario[] = [
  {
    says: 'learns what the server is and can',
    server,
    run: async ({ client }) => {
      expect(client.getServerVersion()).toMatchObject({ name: 'mcp-servers/everything' });
      expect(client.getServerCapabilities()).toMatchObject({ tools: { listChanged: true }, logging: {} });
      expect(client.getInstructions()).toContain('Everything');
      expect(await client.ping()).toEqual({});
    },
  },
  {
    says: 'lists and calls tools, with images, links, annotations and structured content',
    server,
    run: async ({ client }) => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toContain('echo');
      const call = (name: string, input: Record<string, unknown> = {}) => client.callTool({ name, arguments: input });
      expect(textOf(await call('echo', { message: 'hällo \u2028 "\\' }))).toContain('hällo');
      expect(textOf(await call('get-sum', { a: 2, b: 40 }))).toContain('42');
      expect(textOf(await call('get-tiny-image'))).toContain('image/png');
      expect(textOf(await call('get-annotated-message', { messageType: 'error', includeImage: true }))).toContain(
        'priority',
      );
      expect(textOf(await call('get-resource-links', { count: 3 }))).toContain('resource_link');
      expect(textOf(await call('get-resource-reference', { resourceType: 'Blob', resourceId: 2 }))).toContain('blob');
      expect(await call('get-structured-content', { location: 'New York' })).toMatchObject({
        structuredContent: { conditions: expect.any(String) as string },
      });
      expect(textOf(await call('get-env'))).toContain('HOME');
    },
  },
  {
    says: 'gets the errors of tools and of the protocol as they are',
    server,
    run: async ({ client }) => {
      expect(await client.callTool({ name: 'nope', arguments: {} })).toMatchObject({ isError: true });
      expect(await client.callTool({ name: 'get-sum', arguments: { a: 'x' } })).toMatchObject({ isError: true });
      const missing = await refusal(client.getPrompt({ name: 'nope' }));
      expect(missing).toBeInstanceOf(McpError);
      expect(missing).toMatchObject({ code: -32602 });
      expect(await refusal(client.readResource({ uri: 'demo://nowhere' }))).toBeInstanceOf(McpError);
      const unknown = { method: 'no/such/method', params: { extra: [1, { two: null }] } };
      expect(await refusal(client.request(unknown as never, {} as never))).toMatchObject({ code: -32601 });
    },
  },
  {
    says: 'lists, reads and pages through resources and templates',
    server,
    run: async ({ client }) => {
      const { resources } = await client.listResources();
      expect(resources.length).toBeGreaterThan(3);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.length).toBeGreaterThan(1);
      for (const uri of ['demo://resource/dynamic/text/7', 'demo://resource/dynamic/blob/7', resources[0]?.uri ?? '']) {
        expect((await client.readResource({ uri })).contents).toHaveLength(1);
      }
      // It has one page only; the cursor is passed on and given back all the same.
      await refusal(client.listResources({ cursor: 'page 2' }));
      await refusal(client.listTools({ cursor: 'page 2' }));
    },
  },
  {
    says: 'subscribes to a resource, is told of its updates, and unsubscribes',
    server,
    run: async ({ client, wire }) => {
      const uri = 'demo://resource/dynamic/text/1';
      await client.subscribeResource({ uri });
      const updated = wire.seen(isNotification('resources/updated'));
      await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
      expect(await updated).toMatchObject({ params: { uri } });
      await client.callTool({ name: 'toggle-subscriber-updates', arguments: {} });
      await client.unsubscribeResource({ uri });
    },
  },
  {
    says: 'lists prompts, gets them, and has their arguments completed',
    server,
    run: async ({ client }) => {
      const { prompts } = await client.listPrompts();
      expect(prompts.length).toBeGreaterThan(2);
      await client.getPrompt({ name: 'simple-prompt' });
      const { messages } = await client.getPrompt({ name: 'args-prompt', arguments: { city: 'Łódź', state: 'x' } });
      expect(JSON.stringify(messages)).toContain('Łódź');
      const ref = { type: 'ref/prompt', name: 'completable-prompt' } as const;
      expect(await client.complete({ ref, argument: { name: 'department', value: 'S' } })).toMatchObject({
        completion: { values: ['Sales', 'Support'] },
      });
      const context = { arguments: { department: 'Sales' } };
      expect(await client.complete({ ref, argument: { name: 'name', value: '' }, context })).toMatchObject({
        completion: { values: ['David', 'Eve', 'Frank'] },
      });
      const template = { type: 'ref/resource', uri: 'demo://resource/dynamic/text/{resourceId}' } as const;
      await client.complete({ ref: template, argument: { name: 'resourceId', value: '1' } });
    },
  },
  {
    says: 'sets a level of logging and gets the messages above it',
    server,
    run: async ({ client, wire }) => {
      await client.setLoggingLevel('info');
      const message = wire.seen(isNotification('message'));
      await client.subscribeResource({ uri: 'demo://resource/dynamic/text/1' });
      expect(await message).toMatchObject({ params: { level: 'info' } });
      await client.setLoggingLevel('error');
      await client.unsubscribeResource({ uri: 'demo://resource/dynamic/text/1' });
      expect(wire.received.filter(isNotification('message'))).toHaveLength(1);
    },
  },
  {
    says: 'is told of the progress of a long call',
    server,
    run: async ({ client, wire }) => {
      // At the wire: the client itself forgets whom the last one was for when it comes together with the answer.
      const progress = () => wire.received.filter(isNotification('progress')).map(({ params }) => params?.['progress']);
      await client.callTool(longCall(0.3, 3), undefined, { onprogress: () => undefined });
      expect(progress()).toEqual([1, 2, 3]);
      // Without a token nothing is told.
      await client.callTool(longCall(0.1, 2));
      expect(progress()).toHaveLength(3);
    },
  },
  {
    says: 'cancels a call, and goes on',
    server,
    run: async ({ client, wire, errors }) => {
      const controller = new AbortController();
      const options = { signal: controller.signal, onprogress: () => controller.abort('no longer wanted') };
      expect(await refusal(client.callTool(longCall(2, 2), undefined, options))).toMatchObject({
        message: expect.stringContaining('no longer wanted') as string,
      });
      expect(await client.callTool({ name: 'echo', arguments: { message: 'still here' } })).toBeDefined();
      // Ends after the other would have.
      await client.callTool(longCall(1.5, 1));
      const { requestId } = wire.sent.find(isNotification('cancelled'))?.params ?? {};
      expect(wire.received.filter(({ id, method }) => id === requestId && method === undefined)).toEqual([]);
      expect(errors.filter(({ message }) => !message.includes('progress notification'))).toEqual([]);
    },
  },
  {
    says: 'runs calls side by side, each with the answer that is its own',
    server,
    run: async ({ client }) => {
      const numbers = Array.from({ length: 50 }, (_, index) => index);
      const sums = await Promise.all(
        numbers.map((a) => client.callTool({ name: 'get-sum', arguments: { a, b: 1000 } })),
      );
      for (const a of numbers) expect(textOf(sums[a] ?? {})).toContain(`${a + 1000}`);
    },
  },
  {
    says: 'is asked for a sample, and its answer reaches the tool',
    server,
    capabilities: { sampling: {} },
    prepare: (client) => {
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
        role: 'assistant',
        model: 'a model',
        content: { type: 'text', text: `I was asked ${JSON.stringify(params.messages[0]?.content)}` },
      }));
    },
    run: async ({ client }) => {
      const sample = { name: 'trigger-sampling-request', arguments: { prompt: 'why?', maxTokens: 10 } };
      expect(textOf(await client.callTool(sample))).toContain('context: why?');
      expect(textOf(await client.callTool(sample))).toContain('a model');
    },
  },
  {
    says: 'is asked for input in a form and at an address, accepts and declines',
    server,
    capabilities: { elicitation: { form: {}, url: {} } },
    prepare: (client) => {
      let asked = 0;
      client.setRequestHandler(ElicitRequestSchema, () =>
        asked++ === 0 ? { action: 'accept', content: { name: 'Ann', check: true } } : { action: 'decline' },
      );
    },
    run: async ({ client }) => {
      const form = { name: 'trigger-elicitation-request', arguments: {} };
      expect(textOf(await client.callTool(form))).toContain('Ann');
      expect(textOf(await client.callTool(form))).toContain('decline');
      const at = { url: 'https://example.com/', elicitationId: 'e-1' };
      expect(textOf(await client.callTool({ name: 'trigger-url-elicitation', arguments: at }))).toContain('decline');
      const first = { url: 'https://example.com/first', elicitationId: 'e-2', errorPath: true };
      expect(await refusal(client.callTool({ name: 'trigger-url-elicitation', arguments: first }))).toMatchObject({
        code: -32042,
      });
    },
  },
  {
    says: 'is asked for its roots, and says when they change',
    server,
    capabilities: { roots: { listChanged: true } },
    prepare: (client) => {
      let asked = 0;
      client.setRequestHandler(ListRootsRequestSchema, () => ({
        roots: [{ uri: `file:///root-${asked++}`, name: 'a root' }],
      }));
    },
    run: async ({ client, wire }) => {
      await rootsUpdated({ wire }, 1);
      expect(textOf(await client.callTool({ name: 'get-roots-list', arguments: {} }))).toContain('root-0');
      await client.sendRootsListChanged();
      await rootsUpdated({ wire }, 2);
      expect(textOf(await client.callTool({ name: 'get-roots-list', arguments: {} }))).toContain('root-1');
    },
  },
  {
    says: 'refuses what it was asked, and the tool is told',
    server,
    capabilities: { sampling: {} },
    prepare: (client) => {
      client.setRequestHandler(CreateMessageRequestSchema, () => {
        throw new McpError(-1, 'the user said no', { why: 'no' });
      });
    },
    run: async ({ client }) => {
      const sample = { name: 'trigger-sampling-request', arguments: { prompt: 'why?' } };
      expect(await client.callTool(sample)).toMatchObject({ isError: true });
    },
  },
  {
    says: 'registers a resource by a tool and is told that the list has changed',
    server,
    run: async ({ client, wire }) => {
      const data = 'data:text/plain;base64,SGVsbG8=';
      const changed = wire.seen(isNotification('resources/list_changed'));
      await client.callTool({ name: 'gzip-file-as-resource', arguments: { name: 'hello.gz', data } });
      await changed;
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toContain('demo://resource/session/hello.gz');
      expect((await client.readResource({ uri: 'demo://resource/session/hello.gz' })).contents).toHaveLength(1);
    },
  },
  {
    says: 'starts a task, cancels it, and lists what there is',
    server,
    run: async ({ client, wire }) => {
      await client.listTools();
      const research = { name: 'simulate-research-query', arguments: { topic: 'rust', ambiguous: false } };
      let taskId = '';
      for await (const message of client.experimental.tasks.callToolStream(research, undefined, {
        task: { ttl: 60_000 },
      })) {
        if (message.type !== 'taskCreated') continue;
        ({ taskId } = message.task);
        break;
      }
      expect(await client.experimental.tasks.cancelTask(taskId)).toMatchObject({ status: 'cancelled' });
      expect((await client.experimental.tasks.listTasks()).tasks).toHaveLength(1);
      expect(wire.received.some(({ error }) => error !== undefined)).toBe(false);
    },
  },
];

const longCall = (duration: number, steps: number): { name: string; arguments: Record<string, unknown> } => ({
  name: 'trigger-long-running-operation',
  arguments: { duration, steps },
});

async function rootsUpdated({ wire }: Pick<Session, 'wire'>, times: number): Promise<void> {
  let seen = 0;
  await wire.seen((message) => {
    if (JSON.stringify(message.params ?? {}).includes('Roots updated')) seen++;
    return seen === times;
  });
}
