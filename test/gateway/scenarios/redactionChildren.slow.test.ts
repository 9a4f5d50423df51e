import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inspect } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentKind } from '../../../agents/conversation/agent.ts';
import { createGateway, type Fact, type Logger } from '../../../src/index.ts';
import { inspectionOf } from '../../../src/inspector/inspection.ts';
import { call } from '../../cli/startCli.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory, wholeLines } from '../../support/temporary.ts';

const fixture = fileURLToPath(new URL('../../fixtures/tellsSecrets.mjs', import.meta.url));
/** Has characters that are written otherwise in an address, in JSON and in base64. */
const secret = 'battery & "staple"/of the child';
const ways = ['plain', 'url', 'base64', 'json', 'split', 'shapes'] as const;
/** What may come out nowhere: the secret as it is and as it is written elsewhere, and what the fixture makes itself. */
const planted = [
  secret,
  'battery',
  'staple',
  Buffer.from(`me:${secret}`).toString('base64').slice(4, -4),
  'planted-by',
  'aB3xaB3x',
  'of-a-header',
] as const;

const asText = (value: unknown): string =>
  inspect(value, { depth: 12, maxArrayLength: null, maxStringLength: null, breakLength: Infinity });

function expectNothingOf(what: string, text: string): void {
  expect([what, planted.filter((each) => text.includes(each))]).toEqual([what, []]);
}

/** Takes alerts, with the key that it asks for. */
async function startWebhook() {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      bodies.push(body);
      response.end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

async function startGateway() {
  const directory = temporaryDirectory();
  const runtimeDirectory = join(directory, 'run');
  mkdirSync(runtimeDirectory);
  vi.stubEnv('XDG_RUNTIME_DIR', runtimeDirectory);
  onTestFinished(() => void vi.unstubAllEnvs());
  const db = join(directory, 'events.sqlite');
  const alertFile = join(directory, 'alerts.jsonl');
  const webhook = await startWebhook();
  const facts: unknown[] = [];
  const lines: unknown[] = [];
  const line = (...given: unknown[]): void => void lines.push(given);
  const logger: Logger = { debug: line, info: line, warn: line, error: line };
  const keep = `process.stdin.pipe(require('node:fs').createWriteStream(process.argv[1], { flags: 'a' }))`;
  const gateway = createGateway({
    kinds: [agentKind],
    store: db,
    logger,
    alerts: {
      failures: 1,
      webhook: { url: webhook.url, headers: { Authorization: 'Token of-a-header' } },
      command: { command: process.execPath, args: ['-e', keep, alertFile] },
    },
  });
  onTestFinished(() => gateway.stop());
  gateway.on('*', (fact) => facts.push(fact));
  return { gateway, directory, db, alertFile, webhook, facts, lines };
}

describe.skipIf(!hasSqlite)('a secret of a child', () => {
  it('[O-8] reaches no way out, however the child writes it', { timeout: 60_000 }, async () => {
    const { gateway, directory, db, alertFile, webhook, facts, lines } = await startGateway();
    const env = { CHILD_TOKEN: secret };
    const command = process.execPath;
    const policy = { retry: { maxAttempts: 1 }, breaker: { consecutiveFailures: 100 } };
    const tools = ways.map((way) => gateway.subprocess(way, { command, args: [fixture, way], env, policy }));
    for (const way of ways) gateway.hook('Stop', { command, args: [fixture, way], env }, { name: way, policy });
    gateway.mcpServer('server', { command, args: [fixture, 'plain'], env: { CHILD_TOKEN: 'planted-by server' } });
    const agent = gateway.agent('agent', {
      backend: 'claude',
      claude: { command, args: [fixture, 'plain'] },
      env: { CHILD_TOKEN: 'planted-by agent' },
    });
    await gateway.start();
    const frames = await (inspectionOf(gateway)?.open() ?? Promise.reject(new Error('no inspection')));
    for (const tool of tools) expect((await tool.call({})).ok).toBe(false);
    await gateway.runHooks({ event: 'Stop' });
    const opened = await agent.start();
    expect((opened.ok ? await opened.value.send('hello').outcome : opened).ok).toBe(false);
    const alerts = (): number => facts.filter((fact) => (fact as Fact).type.startsWith('alert.')).length;
    expect(alerts()).toBeGreaterThanOrEqual(ways.length);
    const arrived = () => [webhook.bodies.length, wholeLines(alertFile).length].map((count) => count - alerts());
    await expect.poll(arrived).toEqual([0, 0]);
    await gateway.store?.flush();

    let shown = '';
    for (let text = frames.read() as string | null; text !== null; text = frames.read() as string | null) shown += text;
    for (const words of [['status'], ['status', '--tree'], ['events', '--failed'], ['events'], ['alerts']]) {
      for (const more of [[], ['--json']]) {
        const { stdout, stderr } = await call([...words, ...more, '--db', db], { now: () => Date.now() });
        expect(stdout).not.toBe('');
        expectNothingOf([...words, ...more].join(' '), stdout + stderr);
      }
    }
    await gateway.stop();

    expect(asText(facts)).toContain('refused: [CHILD_TOKEN]');
    expectNothingOf('facts', asText(facts));
    expectNothingOf('log', asText(lines));
    expect(shown).toContain('integration:plain');
    expectNothingOf('inspector', shown);
    expect(webhook.bodies.join('\n')).toContain('refused: [CHILD_TOKEN]');
    expectNothingOf('webhook', webhook.bodies.join('\n'));
    expectNothingOf('alert command', readFileSync(alertFile, 'utf8'));
    const files = readdirSync(directory).filter((name) => name.startsWith('events.sqlite'));
    expectNothingOf('store', files.map((name) => readFileSync(join(directory, name), 'latin1')).join(''));
  });
});
