import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { unloadedCode } from '../../../cli/unloaded.ts';
import { fakeAgent } from '../../support/fakeAgent.ts';
import { processesOf } from '../../support/processesOf.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const main = join(root, 'dist/cli/main.js');
/** A user of this machine who has no other process. */
const nobody = 61_000 + (process.pid % 1000);

/** A server of a few lines: what it loads is not to count. */
const server = `
let rest = '';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const serverInfo = { name: 'plain', version: '1' };
const answer = ({ id, method, params }) =>
  method === 'initialize'
    ? say({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo } })
    : id !== undefined && say({ id, result: { content: [{ type: 'text', text: 'done' }], tools: [] } });
process.stdin.on('data', (chunk) => {
  const lines = (rest += chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) answer(JSON.parse(line));
});
process.stdin.on('end', () => process.exit());
`;

const message = (fields: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...fields })}\n`;
const clientInfo = { name: 'test', version: '1' };
const conversation = [
  message({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  }),
  message({ method: 'notifications/initialized' }),
  message({ id: 2, method: 'tools/call', params: { name: 'plain', arguments: {} } }),
].join('');

/** What each program ends with: in order, and where it or what it is to run cannot be started. */
const codes = {
  guard: [0, 2],
  hook: [0],
  run: [0, 75, 125],
  mcp: [0, 2],
  agent: [0, 1, 75, 125],
} as const;
type Program = keyof typeof codes;

interface End {
  readonly code: number | string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A copy of the built package, with all that it loads, which every user of this machine can read: what another user may not read, that user cannot run. */
function copyForAll(copy: string): void {
  const npm = ['ls', '--omit=dev', '--all', '--parseable'];
  const listed = spawnSync('npm', npm, { cwd: root, encoding: 'utf8' }).stdout.trim().split('\n');
  const packages = listed.map((each) => relative(root, each)).filter((each) => each.startsWith('node_modules'));
  for (const part of ['package.json', 'dist', ...packages])
    cpSync(join(root, part), join(copy, part), { recursive: true, dereference: true });
  spawnSync('chmod', ['-R', 'a+rX', copy]);
}

/** Runs a program of ours under a limit, by a wrapper that sets it. */
async function runUnder(
  wrapper: readonly string[],
  program: Program,
  { owner, from = main }: { readonly owner?: number; readonly from?: string } = {},
): Promise<End> {
  const fake = fakeAgent();
  const { directory } = fake;
  const word = randomUUID();
  const plain = join(directory, 'plain.cjs');
  writeFileSync(plain, server);
  if (owner !== undefined) {
    chownSync(directory, owner, owner);
    // A program of Node that gets some of its threads may hang.
    writeFileSync(join(directory, 'claude'), '#!/bin/sh\nexit 3\n', { mode: 0o755 });
  }
  const words = {
    guard: ['hook', '--name', 'guard', '--on-failure', 'block', '--', 'sh', '-c', 'exit 0', word],
    hook: ['hook', '--name', 'hook', '--', 'sh', '-c', 'exit 0', word],
    run: ['run', '--name', 'run', '--attempts', '2', '--', 'sh', '-c', 'echo done', word],
    mcp: ['mcp', '--name', 'plain', '--', process.execPath, plain, word],
    agent: ['agent', '--backend', 'claude', '--command', owner === undefined ? fake.command : './claude', 'say done'],
  }[program];
  const [command = '', ...others] = wrapper;
  const child = spawn(command, [...others, process.execPath, from, ...words], {
    cwd: directory,
    env: { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory, XDG_RUNTIME_DIR: directory, ...fake.env },
    // A group of its own: what it sends to its group must not end this test.
    detached: true,
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr += String(chunk)));
  child.stdout.on('data', (chunk) => {
    stdout += String(chunk);
    if (stdout.includes('"id":2')) child.stdin.end();
  });
  child.stdin.on('error', () => {});
  if (program === 'mcp') child.stdin.write(conversation);
  else child.stdin.end(JSON.stringify({ hook_event_name: 'PreToolUse' }));
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null];
  await expect.poll(() => processesOf(word)).toEqual([]);
  return { code: signal ?? code, stdout, stderr };
}

/** What of an end is not in order: a stack, an error that nobody heard, a failure without a line that says what was short; none when it is. */
function faultsOf(program: Program, { code, stdout, stderr }: End): readonly unknown[] {
  const isOwn = (codes[program] as readonly unknown[]).includes(code);
  const hasStack = /\n\s+at |Unhandled|is not iterable|Cannot read prop|node:internal/.test(stderr);
  // 1 is an agent's own.
  const isTold = code === 0 || /^unwedge: /m.test(stderr);
  const isExplained = code === 0 || code === 1 || /^unwedge: .*(?:EMFILE|EAGAIN)/m.test(stderr);
  const isHook = program === 'guard' || program === 'hook';
  const isServed = code !== 0 || isHook || program === 'mcp' || stdout.includes('done');
  return isOwn && !hasStack && isTold && isExplained && isServed ? [] : [{ program, code, stdout, stderr }];
}

/** The code with the fewest descriptors: a command without a guard's duty goes on, and says so. */
const without = { guard: 2, hook: 0, run: 75, mcp: 2, agent: 75 } as const;

const programs = Object.keys(codes) as Program[];
/** Node itself has not started with fewer than some 19. */
const files = [20, 22, 24, 28, 32, 40, 64, 80, 128, 256];

/** Node has seven threads of its own, and a hook starts its child before it has more; others have those of libuv, too, and an agent with fewer takes very long. */
const leastOf = (program: Program): number => (program === 'guard' || program === 'hook' ? 7 : 9);

describe.runIf(process.platform === 'linux')('a command that is short of something', () => {
  it.each(programs)('[S-4] [H-3] [L-4] says so and ends when it is out of descriptors: %s', async (program) => {
    const ends = new Map<number, End>();
    for (const most of files) {
      const end = await runUnder(['prlimit', `--nofile=${most}:${most}`], program);
      ends.set(most, end);
      expect(faultsOf(program, end)).toEqual([]);
    }
    // The limits are those between which it matters: with the fewest it could not, with the most it could.
    const first = ends.get(20);
    expect(first?.stderr).toMatch(/EMFILE/);
    expect([without[program], unloadedCode(program)]).toContain(first?.code);
    expect(ends.get(256)).toMatchObject({ code: 0 });
  });

  const isRoot = process.getuid?.() === 0;
  const copy = isRoot ? mkdtempSync(join(tmpdir(), 'unwedge-test-')) : root;
  const from = join(copy, 'dist/cli/main.js');
  beforeAll(() => {
    if (isRoot) copyForAll(copy);
  });
  afterAll(() => {
    if (isRoot) rmSync(copy, { recursive: true, force: true });
  });
  it.runIf(isRoot).each(programs)(
    '[S-4] [H-3] [L-4] says so and ends where no process may be started: %s',
    async (program) => {
      const asNobody = ['setpriv', '--reuid', `${nobody}`, '--clear-groups'] as const;
      const ends: End[] = [];
      for (let most = leastOf(program); most <= 13; most++) {
        const end = await runUnder([...asNobody, 'prlimit', `--nproc=${most}:${most}`], program, {
          owner: nobody,
          from,
        });
        // Node ends itself by SIGABRT when it cannot have its own threads.
        if (end.code === 'SIGABRT') continue;
        ends.push(end);
        // A server of Node that gets some of its threads says so on the stderr of the proxy.
        expect(program === 'mcp' ? [] : faultsOf(program, end)).toEqual([]);
      }
      expect(ends.some(({ stdout, stderr }) => `${stdout}${stderr}`.includes('EAGAIN'))).toBe(true);
      expect(ends.map(({ code }) => code)).not.toContain('SIGKILL');
    },
  );
});
