import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { makeHome, type McpHome, startMcp } from '../startMcp.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
const bank = fileURLToPath(new URL('../../fixtures/bankServer.mjs', import.meta.url));
const page = readFileSync(new URL('../../../docs/never-twice.md', import.meta.url), 'utf8');
/** The configuration that the page shows. */
const shown = /## In `unwedge mcp`[\s\S]*?```json\n([\s\S]*?)```/.exec(page)?.[1] ?? '';

/** A bank that is killed after its first payment, behind the command with a configuration. */
async function startBank(config: string, when: string) {
  const home = makeHome();
  const file = join(home.directory, 'unwedge.json');
  const payments = join(home.directory, 'payments');
  writeFileSync(file, config);
  const command = [process.execPath, bank, payments, join(home.directory, 'killed'), when];
  const mcp = startMcp(home, ['--name', 'bank', '--config', file], command);
  await mcp.open();
  const pay = () => mcp.ask('tools/call', { name: 'charge', arguments: { reference: 'o-7' } });
  return { home, pay, payments: () => readFileSync(payments, 'utf8').trim().split('\n') };
}

/** What a command prints; undefined where it fails. */
async function printed({ env }: McpHome, words: readonly string[]): Promise<string | undefined> {
  const child = spawn(process.execPath, [main, ...words], { env, stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const [code] = (await once(child, 'close')) as [number];
  return code === 0 ? text : undefined;
}

describe('`unwedge mcp` with the configuration of docs/never-twice.md', () => {
  it('[R-16] [U-6] answers a payment whose answer was lost with what the bank lists', async () => {
    const { pay, payments } = await startBank(shown, 'after');
    const { result } = await pay();
    expect(result).toMatchObject({
      structuredContent: { id: 'ch_1', reference: 'o-7' },
      _meta: { 'unwedge/reconciled': 'list_payments lists it as ch_1' },
    });
    expect(payments()).toHaveLength(1);
  });

  it('[R-16] [O-9] shows in `unwedge why` what it asks, and in `unwedge events` that it does', async () => {
    const slow = shown.replace('"items"', '"timeoutMs": "5m", "items"');
    const { home, pay } = await startBank(slow, 'listless');
    void pay();
    let why: string | undefined;
    while (why?.includes(' asks ') !== true) why = await printed(home, ['why', 'bank']);
    expect(why).toMatch(
      /^bank is connected to its client; 0 messages wait\.\n {2}bank charge \(bank-\d+\) for \S+: asks list_payments whether charge happened, \S+ left\n/,
    );
    let events: string | undefined;
    while (events?.includes('list_payments') !== true)
      events = await printed(home, ['events', '--integration', 'bank']);
    expect(events).toContain('list_payments');
  });
});
