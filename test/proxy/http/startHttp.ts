import { onTestFinished } from 'vitest';
import { McpHttp, type McpHttpOptions, mcpPath } from '../../../proxy/http/mcpHttp.ts';
import { McpSessions } from '../../../proxy/mcp/mcpSessions.ts';
import type { McpProxyOptions } from '../../../proxy/mcp/settings.ts';
import type { Fact, FactOf, FactType } from '../../../src/policy/facts/facts.ts';
import { Registry } from '../../../src/runtime/registry.ts';
import { checkGatewayOptions } from '../../../src/runtime/runtimeOptions.ts';
import { startHttpServer } from '../../../web/server/httpServer.ts';
import { fixture } from '../../actors/mcp/mcpHarness.ts';
import { SkippingClock } from '../../support/skippingClock.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

/** A message as a client over HTTP reads it. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: { readonly [name: string]: unknown; readonly content?: readonly { readonly text: string }[] };
  readonly error?: { readonly code: number; readonly message: string };
}

export const token = 'planted-token-0123456789';
export const textIn = (message: Message | undefined): string => message?.result?.content?.[0]?.text ?? '';
const version = 'io.modelcontextprotocol/protocolVersion';

export interface HttpSetup extends Partial<McpHttpOptions> {
  readonly server?: Partial<McpProxyOptions> | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly noToken?: boolean | undefined;
}

/** A server on stdio, by default the scripted one, offered by HTTP. */
export async function startHttp({ server = {}, env = {}, noToken, ...options }: HttpSetup = {}) {
  const directory = temporaryDirectory();
  const clock = new SkippingClock();
  const registry = new Registry(checkGatewayOptions({ clock, random: () => 0.5 }));
  const { runtime } = registry;
  const facts: Fact[] = [];
  const watchers = new Set<() => void>();
  runtime.bus.on('*', (fact) => {
    facts.push(fact);
    for (const watcher of watchers) watcher();
  });
  for (const [name, value] of Object.entries(env)) process.env[name] = value;
  await registry.start();
  let errors = '';
  const command = { command: process.execPath, args: [fixture('mcpScripted'), directory] };
  const sessions = new McpSessions(
    runtime,
    { name: 'kb', ...command, ...server },
    { errors: (chunk) => (errors += String(chunk)), say: (line) => (errors += `${line}\n`), hide: (text) => text },
  );
  const http = new McpHttp({
    clock,
    open: (streams) => sessions.serve(streams),
    ...{ shared: false, sessionMs: 1_800_000, maxSessions: 32, version: '1.0.0' },
    ...options,
  });
  const loopback = await startHttpServer({
    clock,
    token: noToken === true ? undefined : { value: token, in: 'bearer' },
    answer: (request, response) => http.answer(request, response),
  });
  onTestFinished(async () => {
    http.drain();
    await registry.stop();
    http.close();
    await loopback.close();
    for (const name of Object.keys(env)) delete process.env[name];
  });
  const url = `${loopback.origin}${mcpPath}`;
  const told = <T extends FactType>(type: T, count = 1): Promise<FactOf<T>> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        const found = facts.filter((fact): fact is FactOf<typeof type> => fact.type === type)[count - 1];
        if (found === undefined) return;
        watchers.delete(watcher);
        resolve(found);
      };
      watchers.add(watcher);
      watcher();
    });
  return { url, http, sessions, registry, runtime, clock, facts, told, loopback, errors: () => errors };
}

export interface Answered {
  readonly status: number;
  readonly headers: Headers;
  /** All messages, once the answer has ended. */
  messages(): Promise<readonly Message[]>;
  /** The next message of a stream, and the id of its event; undefined when the stream has ended. */
  next(): Promise<{ readonly id: string | undefined; readonly message: Message | undefined } | undefined>;
  /** Cuts the connection. */
  cut(): void;
}

const usual = {
  Authorization: `Bearer ${token}`,
  Accept: 'application/json, text/event-stream',
  'Content-Type': 'application/json',
};

/** Sends one request; headers that are undefined are left out. */
export async function send(
  url: string,
  method: string,
  headers: Readonly<Record<string, string | undefined>> = {},
  body?: string,
): Promise<Answered> {
  const controller = new AbortController();
  const given = Object.entries({ ...usual, ...headers }).filter(
    (each): each is [string, string] => each[1] !== undefined,
  );
  const response = await fetch(url, {
    method,
    headers: given,
    ...(body !== undefined && { body }),
    signal: controller.signal,
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => controller.abort());
  let rest = '';
  const nextEvent = async (): Promise<string | undefined> => {
    for (;;) {
      const at = rest.indexOf('\n\n');
      if (at >= 0) {
        const event = rest.slice(0, at);
        rest = rest.slice(at + 2);
        if (!event.startsWith(':')) return event;
        continue;
      }
      const piece = await reader?.read().catch(() => undefined);
      if (piece?.value === undefined) return undefined;
      rest += piece.value;
    }
  };
  const isStream = response.headers.get('content-type') === 'text/event-stream';
  const whole = async (): Promise<Message[]> => {
    for (let piece = await reader?.read(); piece?.value !== undefined; piece = await reader?.read())
      rest += piece.value;
    const text = rest;
    rest = '';
    return text === '' ? [] : [JSON.parse(text) as Message];
  };
  const next: Answered['next'] = async () => {
    if (!isStream) {
      const [message] = await whole();
      return message === undefined ? undefined : { id: undefined, message };
    }
    const event = await nextEvent();
    if (event === undefined) return undefined;
    const data = fieldOf(event, 'data');
    return {
      id: fieldOf(event, 'id'),
      message: data === undefined ? undefined : (JSON.parse(data) as Message),
    };
  };
  return {
    status: response.status,
    headers: response.headers,
    next,
    cut: () => controller.abort(),
    async messages() {
      if (!isStream) return whole();
      const messages: Message[] = [];
      for (let each = await next(); each !== undefined; each = await next()) {
        if (each.message !== undefined) messages.push(each.message);
      }
      return messages;
    },
  };
}

/** A client of the era with a handshake, in its own words. */
export class RawClient {
  readonly #url: string;
  readonly #authorization: string;
  #lastId = 0;
  session: string | undefined = undefined;

  constructor(url: string, authorization = `Bearer ${token}`) {
    this.#url = url;
    this.#authorization = authorization;
  }

  /** @returns the answer to `initialize`. */
  async open(protocolVersion = '2025-11-25'): Promise<Answered> {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const answered = await this.request('initialize', params);
    this.session = answered.headers.get('mcp-session-id') ?? undefined;
    return answered;
  }

  post(body: unknown, headers: Readonly<Record<string, string | undefined>> = {}): Promise<Answered> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    return send(this.#url, 'POST', { ...this.#own(), ...headers }, text);
  }

  request(method: string, params: object = {}, id: number | string = ++this.#lastId): Promise<Answered> {
    return this.post({ jsonrpc: '2.0', id, method, params });
  }

  get(headers: Readonly<Record<string, string | undefined>> = {}): Promise<Answered> {
    return send(this.#url, 'GET', { ...this.#own(), ...headers });
  }

  delete(headers: Readonly<Record<string, string | undefined>> = {}): Promise<Answered> {
    return send(this.#url, 'DELETE', { ...this.#own(), ...headers });
  }

  #own(): Readonly<Record<string, string | undefined>> {
    return { Authorization: this.#authorization, 'Mcp-Session-Id': this.session };
  }

  /** The text of the answer to a call of a tool of the scripted server. */
  async call(args: object, tool = 'act'): Promise<string> {
    const answered = await this.request('tools/call', { name: tool, arguments: args });
    return textIn((await answered.messages()).at(-1));
  }
}

/** A client of the stateless era, in its own words. */
export function stateless(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  headers: Readonly<Record<string, string | undefined>> = {},
  id: number | string = 1,
): Promise<Answered> {
  const { name, uri } = params;
  const own = {
    'MCP-Protocol-Version': '2026-07-28',
    'Mcp-Method': method,
    'Mcp-Name': typeof name === 'string' ? name : typeof uri === 'string' ? uri : undefined,
  };
  const { _meta, ...rest } = params as { _meta?: object };
  const body = { jsonrpc: '2.0', id, method, params: { ...rest, _meta: { [version]: '2026-07-28', ..._meta } } };
  return send(url, 'POST', { ...own, ...headers }, JSON.stringify(body));
}

/** No expression: it would run out of stack on a message of some MB. */
function fieldOf(event: string, name: string): string | undefined {
  const value = event
    .split('\n')
    .find((line) => line.startsWith(`${name}: `))
    ?.slice(name.length + 2);
  return value === '' ? undefined : value;
}
