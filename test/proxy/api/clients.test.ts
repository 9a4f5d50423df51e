import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type ClientFault, clients, type ClientKind, faults, type ProxyAct } from '../../../proxy/api/clients.ts';
import type { Dialect } from '../../../proxy/api/route.ts';
import { type Got, startApiProxy, streamed } from './startApiProxy.ts';
import { modelWith, paths, requestsOf } from './clientFaults.ts';

const kinds = Object.keys(clients) as ClientKind[];
const names = Object.keys(faults) as ClientFault[];
const tool = { name: 'Bash', input: { command: 'echo x >> effect' } };

/** What the end of an answer looks like to its client. */
function actOf({ status, headers, text, whole, wasReset }: Got, requests: number): ProxyAct {
  if (status !== 200) return headers['retry-after'] === undefined ? 'drops hint' : 'passes';
  if (!whole) return wasReset ? 'reset' : 'cut';
  if (/event: error|response\.failed|"error":/.test(text)) return 'error';
  return requests > 1 ? 'again' : 'good end';
}

/** The last event, or the reason of the end where that is the last. */
const ends: Readonly<Record<Dialect, string>> = {
  messages: 'event: message_stop',
  responses: 'event: response.completed',
  chat: 'data: [DONE]',
  gemini: '"finishReason":"STOP"',
};

const cells = kinds.flatMap((client) =>
  requestsOf[client].dialects.flatMap((dialect) => names.map((fault) => ({ client, dialect, fault }))),
);

describe('each client at each fault', () => {
  it.each(cells)('[E-7] $client over $dialect: $fault', async ({ client, dialect, fault }) => {
    const { does } = clients[client].cells[fault];
    const { ask, api, clock, told } = await startApiProxy({ script: modelWith(fault, dialect, tool) });
    if (fault.startsWith('silent') || does === 'reset') clock.stop();
    const asking = ask({
      path: paths[dialect],
      headers: { 'user-agent': requestsOf[client].agent },
      body: dialect === 'gemini' ? '{"contents":[]}' : streamed(),
    });
    if (fault === 'silent before headers') await api.reached(1);
    else if (fault.startsWith('silent')) await asking.saw('I ');
    // What it says before it falls silent is there: nothing more comes.
    if (fault.startsWith('silent after')) await asking.saw('>> effect');
    if (fault === 'silent after its finish')
      await asking.saw(dialect === 'chat' ? '"finish_reason":"' : finishOf(dialect));
    if (fault.startsWith('silent')) clock.skip(fault === 'silent before headers' ? 120_000 : 90_000);
    if (fault === 'silent before headers') {
      await told('call.retried');
      clock.skip(1);
    }
    if (does === 'reset') {
      await told('call.failed');
      await new Promise((ended) => setImmediate(ended));
      clock.skip(1000);
    }
    const got = await asking.got;
    expect(actOf(got, api.requests.length)).toBe(does);
    const isWhole = does === 'again' || fault.endsWith('finish');
    expect(got.text.includes(ends[dialect])).toBe(isWhole);
    // An answer that broke is never joined with another one.
    expect(got.text.includes('again.')).toBe(does === 'again');
  });
});

const finishOf = (dialect: Dialect): string => (dialect === 'messages' ? '"stop_reason":"tool_use"' : ends[dialect]);

const file = '../../../docs/model-api.md';
const page = readFileSync(new URL(file, import.meta.url), 'utf8');
const words = { 'goes on': 'goes on', fails: 'ends', waits: 'waits' } as const;

/** The table as the page has it: a row for each fault, a column for each client. */
function table(): string {
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const heads = kinds.map((client) => `${clients[client].name} ${clients[client].version}`);
  const rows = names.map((fault) => {
    const cells = kinds.map((client) => {
      const { does, then } = clients[client].cells[fault];
      return `${does}; ${words[then]}`;
    });
    return row([faults[fault], ...cells]);
  });
  return [row(['', ...heads]), row(['', ...heads].map(() => '---')), ...rows].join('\n');
}

describe('docs/model-api.md', () => {
  it('[E-7] has the table of clients; else: vitest run test/proxy/api/clients.test.ts --update', async () => {
    const begin = '<!-- clients: vitest run test/proxy/api/clients.test.ts --update -->\n';
    const from = page.indexOf(begin) + begin.length;
    const to = page.indexOf('<!-- end of clients -->');
    await expect(`${page.slice(0, from)}\n${table()}\n\n${page.slice(to)}`).toMatchFileSnapshot(file);
  });
});
