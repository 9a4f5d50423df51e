import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { mcpOptions } from '../../../cli/mcp/options.ts';
import { whatToServe } from '../../../cli/mcp/mcpCommand.ts';
import { parseWords } from '../../../cli/parse.ts';

it('[P-8] `--start-timeout` is the limit of each server of a file that names none of its own', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'servers.json');
  const mcpServers = {
    kb: { command: 'kb' },
    far: { url: 'https://mcp.example/mcp' },
    slow: { command: 'slow', handshakeMs: '10m' },
  };
  writeFileSync(file, JSON.stringify({ mcpServers }));
  const parsed = parseWords(mcpOptions, ['--servers', file, '--start-timeout', '5m'], '');
  if (parsed.help) throw new Error('the words ask for help');
  const { servers } = await whatToServe(parsed.args, {}, []);
  expect(servers.map(({ name, handshakeMs }) => [name, handshakeMs])).toEqual([
    ['kb', 300_000],
    ['far', 300_000],
    ['slow', 600_000],
  ]);
});
