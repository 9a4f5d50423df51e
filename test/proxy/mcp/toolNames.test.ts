import { describe, expect, it } from 'vitest';
import { type SaidOfTools, ToolNames } from '../../../proxy/mcp/toolNames.ts';

const nothing = { name: 'shop', tools: new Map(), reconcile: undefined, limited: [] } satisfies SaidOfTools;

function page(names: readonly string[], nextCursor?: string) {
  return { tools: names.map((name) => ({ name })), ...(nextCursor !== undefined && { nextCursor }) };
}

const list = (cursor?: string) => ({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } });

describe('tools that something is written for', () => {
  it('[R-17] are told once where the server has none of that name, with the nearest and where it is written', () => {
    const names = new ToolNames({
      ...nothing,
      tools: new Map([
        ['pya', { reconcile: { tool: 'list_payment' } }],
        ['search', {}],
      ]),
      limited: ['slwo'],
    });
    const listed = page(['pay', 'search', 'slow', 'list_payments']);
    expect(names.note(list(), listed)).toEqual([
      'shop has no tool "list_payment", which policies.integrations.shop.tools.pya.reconcile names; did you mean "list_payments"?',
      'shop has no tool "slwo", which --tool-timeout names; did you mean "slow"?',
      'shop has no tool "pya", which policies.integrations.shop.tools names; did you mean "pay"?',
    ]);
    expect(names.note(list(), listed)).toEqual([]);
  });

  it('[R-17] are looked for on every page before anything is told', () => {
    const names = new ToolNames({ ...nothing, limited: ['slow', 'zzz'] });
    expect(names.note(list(), page(['fast'], '2'))).toEqual([]);
    expect(names.note(list('other'), page([]))).toEqual([]);
    expect(names.note(list('2'), page(['slow']))).toEqual(['shop has no tool "zzz", which --tool-timeout names']);
  });

  it('[R-17] are not looked for in other answers', () => {
    const names = new ToolNames({ ...nothing, limited: ['slow'] });
    expect(names.note({ method: 'prompts/list', params: {} }, page([]))).toEqual([]);
  });
});
