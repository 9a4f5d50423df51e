import { fieldsOf, type McpAnswer, type McpParams } from '../protocol/mcp/message.ts';
import type { HubMember } from './hubMember.ts';

/** What the hub passes on; tasks are not among it: their ids are those of one server, and no list of them could be merged. */
const all = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  logging: {},
  completions: {},
};

/** Longest text of instructions that is passed on of one server, in characters. */
const longestInstructions = 10_000;

/** What the hub says of itself to its client: what its servers have, each that has not said so yet taken for one that has everything. */
export function mergedInfo(members: readonly HubMember[], protocolVersion: unknown, version: string): McpParams {
  const versions = members.map(({ info }) => info?.['protocolVersion']).filter((each) => typeof each === 'string');
  return {
    // What the oldest of them speaks all understand.
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
  const lists = found.map(({ result }): unknown => result?.['supportedVersions']).filter(isList);
  const [first] = lists;
  if (first === undefined || lists.length < found.length) return undefined;
  const supportedVersions = first.filter((each) => lists.every((list) => list.includes(each)));
  return { resultType: 'complete', supportedVersions, ...identity(members, version) };
}

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value);

function identity(members: readonly HubMember[], version: string): McpParams {
  const capabilities = Object.entries(all).filter(([name]) => members.some((member) => member.mayHave(name)));
  const instructions = members.flatMap(({ name, info }) => {
    const { instructions: text } = fieldsOf(info);
    return typeof text === 'string' && text !== '' ? [`${name}: ${text.slice(0, longestInstructions)}`] : [];
  });
  return {
    capabilities: Object.fromEntries(capabilities),
    serverInfo: { name: 'unwedge', version },
    ...(instructions.length > 0 && { instructions: instructions.join('\n\n') }),
  };
}
