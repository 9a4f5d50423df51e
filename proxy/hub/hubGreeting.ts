import { type Clock, inTime } from '../../src/policy/face.ts';
import { errorAnswer, rpcErrors } from '../../src/protocol/face.ts';
import { type McpAnswer, type McpParams, type McpRequest, fieldsOf } from '../../src/protocol/mcp/face.ts';
import { takesTasks, tasksExtension, valueAt } from '../../src/protocol/mcp/face.ts';
import { resultAnswer } from '../wire/syntheticAnswer.ts';
import type { HubMember } from './hubMember.ts';

/** Time that servers may take to say of which era they are, in ms: one that is of the older one is asked in vain for anything later. */
const eraMs = 3000;
/**
 * Longest that the handshake of the client waits for those whose process lives and has not answered, in ms. Clients take the tools that they hear of first;
 * the shortest limit of one is the 5 s of Claude Code, in which our own start and the lists have to fit.
 */
const handshakeMs = 4000;
/** Time that servers may take to hear what to log, in ms: nothing of the client hangs by it. */
const levelMs = 1000;

/** Greeting of the client of a hub and its servers, in either era. */
export class HubGreeting {
  readonly #clock: Clock;
  readonly #members: readonly HubMember[];
  readonly #version: string;
  readonly #say: (line: string) => void;
  /** Abilities that the client was told its servers have. */
  #told: McpParams | undefined = undefined;
  #isModern = false;
  #isDone = false;
  /** Level of the log that the client wants, as it said so last. */
  #level: McpParams | undefined = undefined;

  /** @param version - ours, for the client. @param say - one line for people. */
  constructor(clock: Clock, members: readonly HubMember[], version: string, say: (line: string) => void) {
    this.#clock = clock;
    this.#members = members;
    this.#version = version;
    this.#say = say;
  }

  /** True once the client was told what the hub is. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** True where the client speaks without a handshake. */
  get isModern(): boolean {
    return this.#isModern;
  }

  async initialize({ id, params }: McpRequest): Promise<string> {
    this.#level = undefined;
    await this.#inTime((member) => member.settles(params), handshakeMs);
    this.#isDone = true;
    this.#isModern = false;
    const merged = mergedInfo(this.#members, params['protocolVersion'], this.#version);
    this.#told = fieldsOf(merged['capabilities']);
    return resultAnswer(id, merged);
  }

  async discover({ id, params }: McpRequest): Promise<string> {
    const merged = mergedDiscovery(this.#members, await this.#askForEra(params), this.#version);
    if (merged === undefined) return errorAnswer(id, rpcErrors.methodNotFound, 'Method not found: server/discover');
    this.#isDone = true;
    this.#isModern = true;
    return resultAnswer(id, merged);
  }

  /** Identity of ours, as each result of the stateless era says it. */
  get signature(): McpParams {
    return signature(this.#version);
  }

  /** A server comes up after the handshake. What only it has the client does not ask for before it connects again. */
  compare(member: HubMember): void {
    const told = this.#told;
    if (told === undefined) return;
    const untold = ['prompts', 'resources', 'completions'].filter(
      (name) => told[name] === undefined && fieldsOf(member.info?.['capabilities'])[name] !== undefined,
    );
    if (untold.length === 0) return;
    this.#told = { ...told, ...Object.fromEntries(untold.map((name) => [name, {}])) };
    this.#say(
      `${member.name} came up late, with ${untold.join(' and ')}: the client asks for them once it has connected again`,
    );
  }

  /** Introduces a client that knows the server from before, and so asks for nothing but what it wants. */
  async introduce(params: McpParams): Promise<void> {
    this.#isModern = true;
    await this.#askForEra(params);
    this.#isDone = true;
  }

  async setLevel({ id, params }: McpRequest): Promise<string> {
    this.#level = params;
    await this.#inTime((member) => this.tellLevel(member), levelMs);
    return resultAnswer(id, {});
  }

  /** Tells a server what to log, whenever it comes up: the client says so once. */
  async tellLevel(member: HubMember): Promise<void> {
    if (this.#level === undefined || member.info === undefined || !member.mayHave('logging')) return;
    await member.ask('logging/setLevel', this.#level);
  }

  /** Greets the servers without a handshake. @returns what those answered that did in time. */
  async #askForEra(params: McpParams): Promise<readonly McpAnswer[]> {
    const found: McpAnswer[] = [];
    await this.#inTime(async (member) => {
      found.push((await member.greet('server/discover', metaOf(params))).answer);
    }, eraMs);
    return [...found];
  }

  /** Does something with all servers at once, and waits for it, but not longer than so. */
  async #inTime(each: (member: HubMember) => Promise<void>, limitMs: number): Promise<void> {
    await inTime(Promise.all(this.#members.map(each)), { clock: this.#clock, limitMs });
  }
}

/** Picks what a request of ours has of one of the client's in the stateless era. */
export function metaOf(params: McpParams): McpParams {
  const { progressToken: _, ...meta } = fieldsOf(params['_meta']);
  return { _meta: meta };
}

/** Time that what a server said is good for, and whether for everybody: the stateless era wants both of whatever may be kept. */
export interface Freshness {
  readonly ttlMs: number;
  readonly cacheScope: 'public' | 'private';
}

/** Reads what a result says of itself. A result that says nothing, or nonsense, is good for now and for who asked. */
export function freshnessOf({ ttlMs, cacheScope }: McpParams): Freshness {
  const isTime = typeof ttlMs === 'number' && Number.isSafeInteger(ttlMs) && ttlMs >= 0;
  return { ttlMs: isTime ? ttlMs : 0, cacheScope: cacheScope === 'public' ? 'public' : 'private' };
}

/** Merges what several are good for into one: no longer than the shortest of them, and for nobody for whom one of them is not. */
export function mergedFreshness(all: readonly Freshness[]): Freshness {
  if (all.length === 0) return freshnessOf({});
  const isPublic = all.every(({ cacheScope }) => cacheScope === 'public');
  return { ttlMs: Math.min(...all.map(({ ttlMs }) => ttlMs)), cacheScope: isPublic ? 'public' : 'private' };
}

/** Abilities that the hub passes on, beside tasks. Lists change with its servers. */
const passedOn: Readonly<Record<string, McpParams>> = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true },
  logging: {},
  completions: {},
};

/** Longest text of instructions that is passed on of one server, in characters. */
const longestInstructions = 10_000;

/** Merges what the hub says of itself to its client: what its servers have. From one that has not said so yet tools are expected, which servers are for. */
export function mergedInfo(members: readonly HubMember[], protocolVersion: unknown, version: string): McpParams {
  const versions = members.map(({ info }) => info?.['protocolVersion']).filter((each) => typeof each === 'string');
  return {
    // All understand what the oldest of them speaks.
    protocolVersion: [String(protocolVersion), ...versions].toSorted()[0],
    ...identity(members, version),
  };
}

/** The same for a client of the stateless era; undefined when one of the servers is not of it. */
function mergedDiscovery(
  members: readonly HubMember[],
  found: readonly McpAnswer[],
  version: string,
): McpParams | undefined {
  const results = found.map(({ result }) => result ?? {});
  const lists = results.map((result): unknown => result['supportedVersions']).filter(isList);
  const [first] = lists;
  if (first === undefined || lists.length < found.length) return undefined;
  const supportedVersions = first.filter((each) => lists.every((list) => list.includes(each)));
  const late = members.length > found.length ? [freshnessOf({})] : [];
  const freshness = mergedFreshness([...results.map(freshnessOf), ...late]);
  return {
    resultType: 'complete',
    supportedVersions,
    ...freshness,
    ...identity(members, version),
    ...signature(version),
  };
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

/** Returns what a result of the stateless era says of who gave it. */
export function signature(version: string): McpParams {
  return { _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'unwedge', version } } };
}

/** Finds what at least one has of all that servers may have, as the hub has it. */
function mergedCapabilities(members: readonly HubMember[]): McpParams {
  const isOpen = members.some(({ info }) => info === undefined);
  const has = (name: string): boolean =>
    members.some(({ info }) => fieldsOf(info?.['capabilities'])[name] !== undefined);
  const subscribes = members.some(
    ({ info }) => fieldsOf(fieldsOf(info?.['capabilities'])['resources'])['subscribe'] === true,
  );
  const merged = Object.entries(passedOn).filter(([name]) => has(name) || (isOpen && name === 'tools'));
  const own = Object.fromEntries(
    merged.map(([name, own]) => [name, name === 'resources' && subscribes ? { ...own, subscribe: true } : own]),
  );
  // What nobody here knows may have names of its own within: extensions, and what is tried out.
  const others: Record<string, unknown> = {};
  for (const { info } of members)
    for (const [name, value] of Object.entries(fieldsOf(info?.['capabilities'])))
      if (!Object.hasOwn(passedOn, name) && name !== 'tasks')
        others[name] = { ...fieldsOf(value), ...fieldsOf(others[name]) };
  // Without a list, which could not be one of all servers.
  const tasks = { cancel: {}, requests: { tools: { call: {} } } };
  const isTaking = members.some(({ info }) => takesTasks(info?.['capabilities']));
  return { ...others, ...own, ...(isTaking && { tasks }) };
}

function identity(members: readonly HubMember[], version: string): McpParams {
  const instructions = members.flatMap(({ name, info }) => {
    const { instructions: text } = fieldsOf(info);
    return typeof text === 'string' && text !== '' ? [`${name}: ${text.slice(0, longestInstructions)}`] : [];
  });
  return {
    capabilities: mergedCapabilities(members),
    serverInfo: { name: 'unwedge', version },
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  };
}

/** Tells whether a server has tasks, of either era. */
export function hasTasks({ info }: HubMember): boolean {
  const capabilities = info?.['capabilities'];
  return takesTasks(capabilities) || valueAt(capabilities, ['extensions', tasksExtension]) !== undefined;
}
