import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { type McpProxy, type McpProxyOptions, superviseMcpProxy } from '../../../proxy/mcp/mcpProxy.ts';
import type { Fact, FactOf, FactType } from '../../../src/policy/facts/facts.ts';
import type { PoliciesOptions } from '../../../src/policy/policies.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import type { Runtime } from '../../../src/runtime/runtime.ts';
import type { HandshakeShelf } from '../../../proxy/wire/recordedHandshake.ts';
import { fixture } from '../../actors/mcp/mcpHarness.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A message as the client reads it. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: { readonly [name: string]: unknown; readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

export interface StartedProxy {
  readonly proxy: McpProxy;
  /** Stops all of it. */
  stop(): Promise<void>;
  readonly registry: Registry;
  readonly runtime: Runtime;
  readonly clock: SkippingClock;
  readonly input: PassThrough;
  readonly output: PassThrough;
  /** Lines the client has read, as they came. */
  readonly lines: readonly string[];
  readonly facts: readonly Fact[];
  readonly said: readonly string[];
  readonly errors: () => string;
  /** Writes a line as it is. */
  raw(line: string): void;
  notify(method: string, params?: object): void;
  /** Sends a request; resolves with its answer. */
  ask(method: string, params?: object, id?: number | string): Promise<Message>;
  /** Calls a tool of the scripted server; resolves with the answer. */
  call(tool: string, args: object, id?: number | string): Promise<Message>;
  /** The handshake, and the list of tools, so that their annotations are known. */
  open(capabilities?: object): Promise<void>;
  /** Resolves with the first message, of those to come and those before, that this is true of. */
  seen(matches: (message: Message) => boolean): Promise<Message>;
  told<T extends FactType>(type: T, count?: number): Promise<FactOf<T>>;
  /** Lines the server of the moment has received. */
  received(): Promise<readonly string[]>;
  readonly starts: () => number;
  /** Has the server list these tools from now on. */
  lists(tools: readonly object[]): void;
  /** Has the server fail (`kindly`: exit with 0) at every start from now on, or no longer. */
  breaks(broken: boolean | 'kindly'): void;
}

export const textIn = (message: Message): string => message.result?.content?.[0]?.text ?? '';

export interface Scripted extends Partial<McpProxyOptions> {
  readonly env?: Readonly<Record<string, string>>;
  /** As a configuration has them. */
  readonly policies?: PoliciesOptions;
  readonly isShared?: boolean;
  readonly inbox?: boolean;
  readonly handshakes?: HandshakeShelf;
  /** Tools of the server. */
  readonly tools?: readonly object[] | undefined;
  /** File of the store. @defaultValue none */
  readonly store?: string | undefined;
}

/** A proxy over a scripted server, on pipes of the test's own. */
export async function startProxy({
  env = {},
  policies,
  isShared,
  inbox = false,
  handshakes,
  tools,
  store,
  ...options
}: Scripted = {}): Promise<StartedProxy> {
  const directory = temporaryDirectory();
  const lists = (listed: readonly object[]): void =>
    writeFileSync(join(directory, 'tools.json'), JSON.stringify(listed));
  if (tools !== undefined) lists(tools);
  const clock = new SkippingClock();
  const registry = new Registry(
    checkGatewayOptions({ clock, random: () => 0.5, policies, store, ...(inbox && { inbox, store: ':memory:' }) }),
  );
  const { runtime } = registry;
  const facts: Fact[] = [];
  const lines: string[] = [];
  const messages: Message[] = [];
  /** Who waits for the answer to a request. */
  const answers = new Map<unknown, (message: Message) => void>();
  const said: string[] = [];
  let errors = '';
  let lastId = 0;
  const watchers = new Set<() => void>();
  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  runtime.bus.on('*', (fact) => {
    facts.push(fact);
    look();
  });
  const input = new PassThrough();
  const output = new PassThrough();
  let rest = '';
  const read = (chunk: Buffer): void => {
    const parts = (rest + chunk.toString()).split('\n');
    rest = parts.pop() ?? '';
    lines.push(...parts);
    for (const line of parts) {
      const message = JSON.parse(line) as Message | Message[];
      for (const each of Array.isArray(message) ? message : [message]) {
        messages.push(each);
        if (each.method === undefined) answers.get(each.id)?.(each);
      }
    }
    look();
  };
  output.on('data', read);
  await registry.start();
  for (const [name, value] of Object.entries(env)) process.env[name] = value;
  const proxy = superviseMcpProxy(
    runtime,
    { name: 'kb', command: process.execPath, args: [fixture('mcpScripted'), directory], ...options },
    {
      input,
      output,
      errors: (chunk) => {
        errors += String(chunk);
        look();
      },
      say: (line) => said.push(line),
      isShared,
      handshakes,
      hide: (text) => text.replaceAll('s3cret', '[hidden]'),
    },
  );
  onTestFinished(async () => {
    await registry.stop();
    for (const name of Object.keys(env)) delete process.env[name];
  });

  const until = <T>(find: () => T | undefined): Promise<T> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        const found = find();
        if (found === undefined) return;
        watchers.delete(watcher);
        resolve(found);
      };
      watchers.add(watcher);
      watcher();
    });
  const started: StartedProxy = {
    proxy,
    stop: () => registry.stop(),
    registry,
    runtime,
    clock,
    input,
    output,
    lines,
    facts,
    said,
    errors: () => errors,
    raw: (line) => void input.write(`${line}\n`),
    notify: (method, params) => started.raw(JSON.stringify({ jsonrpc: '2.0', method, params })),
    ask(method, params = {}, id = `t${++lastId}`) {
      const answer = new Promise<Message>((resolve) => answers.set(id, resolve));
      started.raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
      return answer;
    },
    call: (name, args, id) => started.ask('tools/call', { name, arguments: args }, id),
    async open(capabilities = {}) {
      const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
      await started.ask('initialize', params);
      started.notify('notifications/initialized');
      await started.ask('tools/list');
    },
    seen: (matches) => until(() => messages.find(matches)),
    told: (type, count = 1) =>
      until(() => facts.filter((fact): fact is FactOf<typeof type> => fact.type === type)[count - 1]),
    received: async () => JSON.parse(textIn(await started.call('plain', { do: 'received' }))) as string[],
    starts: () => readFileSync(join(directory, 'starts')).length,
    lists,
    breaks(broken) {
      const file = join(directory, broken === 'kindly' ? 'broken-kindly' : 'broken');
      if (broken !== false) writeFileSync(file, '');
      else rmSync(file);
    },
  };
  return started;
}
