import type { ClientStreams } from '../wire/serverLines.ts';
import type { Runtime } from '../../src/runtime/face.ts';
import { type McpProxy, superviseMcpSession } from './mcpProxy.ts';
import type { ProxyVoice } from './proxyScope.ts';
import { checkMcpProxy, type McpProxyOptions, type ProxySettings } from './settings.ts';

/**
 * Servers of one command, one for each client that comes: an integration each, called `NAME-1`, `NAME-2` and so on. Numbers of those that have
 * ended are given again, so that what is kept by name stays bounded.
 */
export class McpSessions {
  readonly #runtime: Runtime;
  readonly settings: ProxySettings;
  readonly #voice: ProxyVoice;
  readonly #alone: boolean;
  readonly #taken = new Set<number>();
  readonly #live = new Map<string, McpProxy>();

  /**
   * @param alone - whether there will be but one client, whose server has the name as it is.
   * @throws TypeError or RangeError that names the first option that is not as documented, and its value.
   */
  constructor(runtime: Runtime, options: McpProxyOptions, voice: ProxyVoice, alone = false) {
    this.#runtime = runtime;
    this.settings = checkMcpProxy(options, runtime);
    this.#voice = voice;
    this.#alone = alone;
  }

  get name(): string {
    return this.settings.name;
  }

  get names(): readonly string[] {
    return [...this.#taken].toSorted((a, b) => a - b).map((number) => this.#nameOf(number));
  }

  /** That of a client, by the name of its integration. */
  proxy(name: string): McpProxy | undefined {
    return this.#live.get(name);
  }

  /** Serves a client. Resolves when its server and all that was started for it have ended; never rejects. */
  async serve(streams: ClientStreams): Promise<void> {
    let number = 1;
    while (this.#taken.has(number)) number++;
    this.#taken.add(number);
    const settings = { ...this.settings, name: this.#nameOf(number) };
    const session = superviseMcpSession(this.#runtime, settings, { ...streams, ...this.#voice });
    this.#live.set(settings.name, session.proxy);
    await session.proxy.ended;
    await session.leave();
    this.#live.delete(settings.name);
    this.#taken.delete(number);
  }

  #nameOf(number: number): string {
    const { name } = this.settings;
    return this.#alone && number === 1 ? name : `${name}-${number}`;
  }
}
