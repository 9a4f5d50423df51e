import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runBuilt, runHere } from '../startCli.ts';
import { makeHome } from '../startMcp.ts';
import { main } from '../startRun.ts';

/** A server of the official SDK: one tool fails and counts its calls in a file, one reads. */
const server = (file: string): readonly string[] => [
  process.execPath,
  '--input-type=module',
  '-e',
  `import { appendFileSync } from 'node:fs';
   import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
   import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
   import { z } from 'zod';
   const server = new McpServer({ name: 'files', version: '1' });
   server.registerTool('edit', { inputSchema: { path: z.string() } }, () => {
     appendFileSync(${JSON.stringify(file)}, '.');
     throw new Error('String not found in file');
   });
   server.registerTool('status', { annotations: { readOnlyHint: true } }, () => ({ content: [{ type: 'text', text: 'clean' }] }));
   await server.connect(new StdioServerTransport());`,
];

async function connect(words: readonly string[]) {
  const { directory, env, db } = makeHome();
  const file = join(directory, 'calls');
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main, 'mcp', '--name', 'files', ...words, '--', ...server(file)],
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, String(value)])),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => (stderr += String(chunk)));
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(transport);
  onTestFinished(() => client.close());
  const texts = async (name: string, args: Record<string, unknown> = {}): Promise<readonly string[]> => {
    const { content } = await client.callTool({ name, arguments: args });
    return (content as readonly { readonly text: string }[]).map(({ text }) => text);
  };
  return { client, texts, db, env, calls: () => readFileSync(file).length, stderr: () => stderr };
}

describe('unwedge mcp between the official client and a server of the official SDK', () => {
  it('[P-9] tells the agent with the sixth equal failure, and people on stderr and in the events', async () => {
    const { client, texts, env, stderr } = await connect([]);
    const answers: (readonly string[])[] = [];
    for (let round = 0; round < 6; round++) answers.push(await texts('edit', { path: 'a.ts' }));
    expect(answers.slice(0, 5)).toEqual(Array(5).fill(['String not found in file']));
    expect(answers[5]).toEqual([
      'String not found in file',
      expect.stringMatching(/^\[unwedge: edit was called 6 times with the same arguments and failed alike each time\./),
    ]);
    for (let round = 0; round < 13; round++) expect(await texts('status')).toEqual(['clean']);
    expect(stderr()).toContain('unwedge: edit was called 4 times with the same arguments and failed alike each time');
    await client.close();
    const { stdout } = await runBuilt(['events'], env as Record<string, string>);
    expect(stdout).toMatch(
      /session\/spinning +files +edit was called 6 times .+session=files-[\da-f]{8} tool=edit step=tell/,
    );
  });

  it('[P-9] keeps from the server what is held', async () => {
    const { texts, calls } = await connect(['--spinning', 'hold']);
    for (let round = 0; round < 20; round++) await texts('edit', { path: 'a.ts' });
    expect(calls()).toBe(20);
    expect((await texts('edit', { path: 'a.ts' }))[0]).toMatch(/^Not called again: edit was called 21 times/);
    expect(calls()).toBe(20);
    await texts('edit', { path: 'b.ts' });
    expect(calls()).toBe(21);
    for (let round = 0; round < 11; round++) expect(await texts('status')).toEqual(['clean']);
    expect(await texts('status')).toEqual(['clean', expect.stringContaining('status was called 12 times')]);
  });

  it.each([
    [['--spinning', 'tel'], 'did you mean tell?'],
    [['--spinning', 'sometimes'], '"sometimes"; it takes off, notice, tell, hold, end'],
    [['--listen', '0', '--shared', '--spinning', 'hold'], '--spinning is of no use with --shared'],
  ])('[P-9] [L-1] refuses wrong usage: %j', async (words, message) => {
    const { code, stderr } = await runHere(['mcp', ...words, '--', 'x']);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});
