import { describe, expect, it } from 'vitest';
import { HubLists } from '../../../proxy/hub/hubLists.ts';
import type { HubMember, Told } from '../../../proxy/hub/hubMember.ts';
import { HubNames } from '../../../proxy/hub/hubNames.ts';
import { fieldsOf } from '../../../src/protocol/mcp/message.ts';
import { SimulatedClock } from '../../../testing/simulatedClock.ts';

type Page = (method: string, params: object) => object | Promise<object>;

function memberOf(name: string, page: Page = () => ({})): HubMember {
  const ask = async (method: string, params: object = {}): Promise<Told> => {
    const result = await page(method, params);
    const answer = { kind: 'answer', key: 's1', result: fieldsOf(result), error: undefined, flaw: undefined } as const;
    return { answer, text: JSON.stringify({ jsonrpc: '2.0', id: 1, result }) };
  };
  return { name, info: {}, mayHave: () => true, ask } as unknown as HubMember;
}

function start(...members: readonly HubMember[]) {
  const clock = new SimulatedClock();
  const changed: string[] = [];
  const lists = new HubLists({ clock, members, leftOut: () => undefined, changed: (list) => changed.push(list) });
  return { clock, changed, lists };
}

describe('the lists of several servers', () => {
  it('[P-8] have no more than 100 pages of one server', async () => {
    let pages = 0;
    const { lists } = start(memberOf('kb', () => ({ tools: [{ name: `t${++pages}` }], nextCursor: String(pages) })));
    expect((await lists.list('tools/list', {})).match(/kb__/g)).toHaveLength(100);
    expect(pages).toBe(100);
  });

  it('[P-8] are told as a change where a server was late and has others, not where it was asked and said so', async () => {
    let names = ['a'];
    let answer = (): void => undefined;
    let isLate = false;
    const tools = () => ({ tools: names.map((name) => ({ name })) });
    const late = (): Promise<object> => new Promise((resolve) => (answer = () => resolve(tools())));
    const { lists, clock, changed } = start(memberOf('kb', () => (isLate ? late() : tools())));
    await lists.list('tools/list', {});
    names = ['b'];
    expect(await lists.list('tools/list', {})).toContain('kb__b');
    expect(changed).toEqual([]);
    isLate = true;
    names = ['c'];
    const listed = lists.list('tools/list', {});
    await clock.advance(3000);
    expect(await listed).toContain('kb__b');
    answer();
    await expect.poll(() => changed).toEqual(['tools/list']);
  });

  it('[P-8] say whose a resource is: the first that lists it, or whose template makes it', async () => {
    const of = (uri: string, uriTemplate: string): Page => {
      return (method) =>
        method === 'resources/list' ? { resources: [{ uri }] } : { resourceTemplates: [{ uriTemplate }] };
    };
    const [one, other] = [
      memberOf('one', of('file:///a', 'one:///{x}')),
      memberOf('other', of('file:///a', 'o:///{x}')),
    ];
    const { lists } = start(one, other);
    expect((await lists.ownerOf('file:///a'))?.name).toBe('one');
    expect((await lists.ownerOf('o:///1'))?.name).toBe('other');
    expect(await lists.ownerOf('none:///1')).toBeUndefined();
  });
});

describe('the names of a hub', () => {
  it('[P-8] that are not listed are of the server with the longest name that they begin with', () => {
    const names = new HubNames('tool', () => undefined);
    const members = [memberOf('a'), memberOf('a__b')];
    expect(names.find('a__b__c', members)).toMatchObject({ member: { name: 'a__b' }, own: 'c' });
    expect(names.find('a__c', members)).toMatchObject({ member: { name: 'a' }, own: 'c' });
  });
});
