import { StringDecoder } from 'node:string_decoder';
import type { ClientStreams, OpenServer } from '../../proxy/wire/serverLines.ts';
import type { LiveStatus, Methods } from '../../src/control/face.ts';
import type { LeftOut } from '../../proxy/hub/hubNames.ts';
import { McpHub } from '../../proxy/hub/mcpHub.ts';
import { McpSessions } from '../../proxy/mcp/mcpSessions.ts';
import { proxyLayers, proxyWhy } from '../../proxy/mcp/proxyWhy.ts';
import { noteIn } from '../../src/policy/face.ts';
import { nameIn } from '../../src/runtime/face.ts';
import { ownVersion } from '../doctor/ownVersion.ts';
import type { PreparedMcp, Served } from './prepareMcp.ts';

/** Servers behind clients, at work. */
interface Serving {
  /** Serves one more client. */
  readonly open: OpenServer;
  /** Answers to commands of other processes beside the usual, or in its place. */
  readonly methods: Methods;
}

/**
 * Opens a way to serve clients: every call begins with servers of its own.
 * @param alone - whether there will be but one client.
 */
export function openServed(
  { name, servers, isHub }: Served,
  { registry, checked, voice }: PreparedMcp,
  alone: boolean,
): Serving {
  const { runtime } = registry;
  for (const { env } of servers) checked.secrets.learn(env);
  const errors = new TaggedErrors(voice.errors);
  const all = servers.map((options) => {
    const own = isHub ? { ...voice, errors: errors.of(options.name) } : voice;
    return new McpSessions(runtime, options, own, alone);
  });
  const members = all.map((sessions) => ({
    name: sessions.name,
    open: (streams: ClientStreams) => sessions.serve(streams),
  }));
  const methods: Methods = {
    layers: () => all.flatMap((each) => each.names.flatMap((own) => proxyLayers(each.proxy(own)))),
    why(params) {
      const session = nameIn(params, 'session');
      const proxy = all.map((sessions) => sessions.proxy(session)).find((found) => found !== undefined);
      if (proxy === undefined) throw new RangeError(`No session \`${session}\`: this is a proxy of ${name}`);
      return proxyWhy(proxy);
    },
    ...(alone ? {} : groupMethods(registry, all)),
  };
  const [first] = members;
  if (!isHub && first !== undefined) return { open: first.open, methods };
  const { clock } = runtime;
  const leftOut = ({ member, own, by, ...left }: LeftOut): void =>
    runtime.bus.tell({
      ...{ type: 'mcp.left_out', integration: member.name, name: own },
      ...{ what: left.what, as: left.as, reason: left.reason, of: by?.member.name },
    });
  const hub = { clock, say: voice.say, leftOut, version: ownVersion() };
  const openHub: OpenServer = ({ isShared, ...streams }) => {
    const servers = members.map((each) => ({
      ...each,
      open: (inner: ClientStreams) => each.open({ ...inner, isShared }),
    }));
    return new McpHub({ ...hub, servers, ...streams }).ended;
  };
  return { open: openHub, methods };
}

/** Each client has an integration of its own; to people they are those of one command. */
function groupMethods(registry: PreparedMcp['registry'], all: readonly McpSessions[]): Methods {
  return {
    status: (): LiveStatus => ({
      ...registry.status(),
      groups: all.map((sessions) => ({ group: sessions.name, integrations: sessions.names })),
    }),
    restart(params) {
      const name = nameIn(params);
      const names = all.find((sessions) => sessions.name === name)?.names ?? [name];
      if (names.length === 0) throw new RangeError(`${name} has no clients at the moment: there is nothing to restart`);
      for (const each of names) registry.restart(each, noteIn(params));
    },
  };
}

type Write = (chunk: Uint8Array | string) => void;

/**
 * The stderr of several servers as one: each line begins with the name of its server. Nothing is held back, as the last words of a server may
 * have no end of line; a line that another server breaks into is ended before.
 */
export class TaggedErrors {
  readonly #write: Write;
  /** Server whose line has no end yet. */
  #open: string | undefined = undefined;

  constructor(write: Write) {
    this.#write = write;
  }

  /** Takes what a server writes. */
  of(name: string): Write {
    const decoder = new StringDecoder('utf8');
    const tag = `[${name}] `;
    return (chunk) => {
      const text = typeof chunk === 'string' ? chunk : decoder.write(Buffer.from(chunk));
      if (text === '') return;
      const goesOn = this.#open === name;
      const end = this.#open !== undefined && !goesOn ? '\n' : '';
      this.#open = text.endsWith('\n') ? undefined : name;
      this.#write(end + (goesOn ? '' : tag) + text.replaceAll(/\n(?=[^])/g, `\n${tag}`));
    };
  }
}
