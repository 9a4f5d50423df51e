import type { McpServerTransport } from '../src/actors/mcp/transportOptions.ts';
import { byName, callback, type Given, text } from '../src/policy/optionKeys.ts';
import { readOptions } from '../src/policy/readOptions.ts';
import { FakeMcpPeer, type FakeMcpTool } from './fakeMcpPeer.ts';

/** Server that `gateway.mcpServer` takes. */
export interface FakeMcpServer {
  readonly connect: () => McpServerTransport;
}

const fakeKeys = {
  /** Its tools, by their names. */
  tools: byName(callback<FakeMcpTool, { readonly required: true }>({ required: true }), {
    given: {} as Readonly<Record<string, FakeMcpTool>>,
    expected: 'an object of functions',
    required: true,
  }),
  /** Name that it gives itself. @defaultValue 'fake' */
  name: text({ default: 'fake' }),
};

/** Options of a fake MCP server. */
export interface FakeMcpServerOptions extends Given<typeof fakeKeys> {}

/**
 * An MCP server in this process whose tools are functions. It takes no real time, so that it goes with a {@link SimulatedClock}; a process and
 * a server on a port do not.
 * @throws TypeError or RangeError that names the option and its value.
 *
 * @example
 * const clock = new SimulatedClock();
 * const gateway = createGateway({ clock });
 * const kb = gateway.mcpServer('kb', fakeMcpServer({ tools: { search: ({ query }) => `found ${query}` } }));
 * await gateway.start();
 * const call = kb.call({ name: 'search', arguments: { query: 'tea' } });
 * await clock.advance(1000);
 * console.log(await call);
 */
export function fakeMcpServer(options: FakeMcpServerOptions): FakeMcpServer {
  const { name, tools } = readOptions('', options, fakeKeys);
  return { connect: () => new FakeMcpPeer(name, new Map(Object.entries(tools))) };
}
