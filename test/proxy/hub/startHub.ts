import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { onTestFinished } from 'vitest';
import type { LeftOut } from '../../../proxy/hub/hubNames.ts';
import { McpHub } from '../../../proxy/hub/mcpHub.ts';
import { McpSessions } from '../../../proxy/mcp/mcpSessions.ts';
import type { McpProxyOptions } from '../../../proxy/mcp/settings.ts';
import type { Fact, FactType } from '../../../src/policy/facts/facts.ts';
import type { PoliciesOptions } from '../../../src/policy/policies.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { fixture } from '../../actors/mcp/mcpHarness.ts';
import { type Message, textIn } from '../http/startHttp.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** Servers by their names; what is not said of one is that of the scripted server. */
export type HubServers = Readonly<Record<string, Partial<McpProxyOptions>>>;

/**
 * Several servers behind one client, on pipes of the test's own.
 * @param broken - those that fail at every start until they are mended. Without one time stands still but for `clock.skip`.
 */
export async function startHub(servers: HubServers, broken: readonly string[] = [], policies: PoliciesOptions = {}) {
  const clock = new SkippingClock();
  // However long their starts take, nobody is late who is not to be.
  if (broken.length === 0) clock.stop();
  const registry = new Registry(checkGatewayOptions({ clock, random: () => 0.5, policies }));
  const { runtime } = registry;
  await registry.start();
  const said: string[] = [];
  const left: LeftOut[] = [];
  const messages: Message[] = [];
  const watchers = new Set<() => void>();
  const look = (): void => {
    for (const watcher of watchers) watcher();
  };
  const say = (line: string): void => {
    said.push(line);
    look();
  };
  const facts: Fact[] = [];
  runtime.bus.on('*', (fact) => {
    facts.push(fact);
    look();
  });
  const directories = new Map<string, string>();
  const members = Object.entries(servers).map(([name, options]) => {
    const directory = temporaryDirectory();
    directories.set(name, directory);
    if (broken.includes(name)) writeFileSync(join(directory, 'broken'), '');
    const command = { command: process.execPath, args: [fixture('mcpScripted'), directory] };
    const voice = { errors: () => undefined, say, hide: (text: string) => text };
    const sessions = new McpSessions(runtime, { name, ...command, ...options }, voice, true);
    return { name, open: (streams: Parameters<McpSessions['serve']>[0]) => sessions.serve(streams) };
  });
  const input = new PassThrough();
  const output = new PassThrough();
  let rest = '';
  output.on('data', (chunk) => {
    const lines = (rest + String(chunk)).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) messages.push(JSON.parse(line) as Message);
    look();
  });
  const hub = new McpHub({
    clock,
    input,
    output,
    servers: members,
    say,
    leftOut: (each) => left.push(each),
    version: '1.0.0',
  });
  onTestFinished(() => registry.stop());
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
  let lastId = 0;
  const raw = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method: string, params: object = {}, id: number | string = ++lastId): Promise<Message> => {
    raw({ id, method, params });
    return until(() => messages.find((each) => each.id === id && each.method === undefined));
  };
  return {
    ...{ hub, registry, runtime, clock, input, output, messages, said, left, raw, ask, until },
    told: (type: FactType, count = 1): Promise<Fact> =>
      until(() => facts.filter((fact) => fact.type === type)[count - 1]),
    mend: (name: string): void => rmSync(join(directories.get(name) ?? '', 'broken')),
    /** Calls the tool of a server; its text. */
    call: async (name: string, args: object = {}): Promise<string> =>
      textIn(await ask('tools/call', { name, arguments: args })),
    /** The handshake. @returns what the hub says of itself. */
    open: async (capabilities: object = {}): Promise<Message> => {
      const opened = await ask('initialize', {
        protocolVersion: '2025-11-25',
        capabilities,
        clientInfo: { name: 'test', version: '1' },
      });
      raw({ method: 'notifications/initialized' });
      return opened;
    },
    toolNames: async (): Promise<readonly string[]> =>
      ((await ask('tools/list')).result?.['tools'] as readonly { readonly name: string }[] | undefined)?.map(
        ({ name }) => name,
      ) ?? [],
    heard: (method: string, count = 1): Promise<Message> =>
      until(() => messages.filter((each) => each.method === method)[count - 1]),
  };
}
