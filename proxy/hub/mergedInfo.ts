import { fieldsOf, type McpAnswer, type McpParams } from '../../src/protocol/mcp/message.ts';
import { freshnessOf, mergedFreshness } from './freshness.ts';
import type { HubMember } from './hubMember.ts';

/** Abilities that the hub passes on, without tasks: their ids are those of one server, and no list of them could be merged. Lists change with its servers. */
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
export function mergedDiscovery(
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
  return Object.fromEntries(
    merged.map(([name, own]) => [name, name === 'resources' && subscribes ? { ...own, subscribe: true } : own]),
  );
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
