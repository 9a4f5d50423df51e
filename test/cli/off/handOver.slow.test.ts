import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../store/startStore.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** Starts a wrapper with `UNWEDGE=off`; its database must not come to be. */
function start(words: readonly string[], input = '') {
  const home = temporaryDirectory();
  const env = { PATH: process.env['PATH'], HOME: home, XDG_STATE_HOME: home, UNWEDGE: 'off' };
  const child = execa(process.execPath, [main, ...words], { env, extendEnv: false, reject: false, input });
  return { child, leftNothing: () => !existsSync(join(home, 'unwedge')) };
}

/** Prints its input, and ends by a code. */
const echoes = (code: number): string[] => [
  process.execPath,
  '-e',
  `process.stdin.on('data', (d) => process.stdout.write(d)).on('end', () => { process.stderr.write('said'); process.exitCode = ${code}; })`,
];

describe('UNWEDGE=off', () => {
  it.each([
    ['run', ['run', '--attempts', '3', '--'], 7],
    ['hook', ['hook', '--on-failure', 'block', '--'], 127],
    ['mcp', ['mcp', '--name', 'x', '--'], 3],
    ['mcp without --', ['mcp', '--name', 'x'], 0],
    ['acp', ['acp', '--'], 1],
  ])('[L-9] %s is its command: input, output and exit code', async (_, words, code) => {
    const { child, leftNothing } = start([...words, ...echoes(code)], 'no JSON\n');
    const { exitCode, stdout, stderr } = await child;
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: code, stdout: 'no JSON', stderr: 'said' });
    expect(leftNothing()).toBe(true);
  });

  it('[L-9] a signal for the wrapper is one for the command, and its end the wrapper’s', async () => {
    const waits = "process.stdout.write('up'); setInterval(() => undefined, 1000)";
    const { child } = start(['run', '--', process.execPath, '-e', waits]);
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    expect((await child).signal).toBe('SIGTERM');
  });

  it('[L-9] a command that is not there ends as in a shell', async () => {
    const { exitCode, stderr } = await start(['run', '--', 'no-such-program']).child;
    expect(exitCode).toBe(127);
    expect(stderr).toMatch(/^unwedge: no-such-program could not be started: [^\n]+$/);
  });

  it('[L-9] a prompt file is the input of the command', async () => {
    const file = join(temporaryDirectory(), 'prompt');
    writeFileSync(file, 'of the file');
    const { stdout } = await start(['run', '--prompt-file', file, '--', ...echoes(0)], 'of ours').child;
    expect(stdout).toBe('of the file');
  });

  it.each([
    ['run', ['run', '--bogus', '--timeout', 'soon', '--'], ''],
    ['mcp', ['mcp', '--bogus', '--'], ''],
    ['acp', ['acp', '--bogus=1', '--'], ''],
    ['hook', ['hook', '--bogus', '--'], ''],
    ['run with a prompt file', ['run', '--bogus', '--prompt-file', 'FILE', '--'], 'of the file'],
  ])('[L-9] %s hands over whatever its own words are', async (_, words, input) => {
    const file = join(temporaryDirectory(), 'prompt');
    writeFileSync(file, 'of the file');
    const own = words.map((word) => (word === 'FILE' ? file : word));
    expect(await start([...own, ...echoes(3)]).child).toMatchObject({ exitCode: 3, stdout: input });
  });

  it('[L-9] a guard of ours says nothing, words without a command and help are told as ever', async () => {
    const guard = await start(['hook', '--guard', 'spinning'], '{}').child;
    expect(guard).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
    expect(await start(['mcp', '--nonsense']).child).toMatchObject({ exitCode: 2 });
    expect(await start(['mcp', '--nonsense', '--listen', '127.0.0.1:0', '--', 'true']).child).toMatchObject({
      exitCode: 2,
    });
    expect((await start(['run', '--help']).child).stdout).toContain('Usage: unwedge run');
  });

  it('[L-9] api passes what the API says, once, and its bytes', async () => {
    let asked = 0;
    const upstream = createServer((request, response) => {
      asked++;
      request.pipe(response.writeHead(529, { 'x-own': request.headers['x-own'] ?? '' }));
    });
    await once(upstream.listen(0, '127.0.0.1'), 'listening');
    const { port } = upstream.address() as AddressInfo;
    const { child } = start(['api', '--upstream', `http://127.0.0.1:${port}`, '--json']);
    const [told] = (await once(child.stdout, 'data')) as [Buffer];
    const { url } = JSON.parse(String(told)) as { url: string };
    const answer = await fetch(`${url}/v1/messages`, { method: 'POST', body: 'bytes', headers: { 'x-own': 'mine' } });
    expect([answer.status, answer.headers.get('x-own'), await answer.text()]).toEqual([529, 'mine', 'bytes']);
    expect(asked).toBe(1);
    upstream.close();
    upstream.closeAllConnections();
    expect((await fetch(`${url}/v1/messages`)).status).toBe(502);
    child.kill('SIGTERM');
    await child;
  });

  it('[L-9] doctor says that it is set, or that its value says nothing', async () => {
    const { stdout } = await start(['doctor']).child;
    expect(stdout).toContain('UNWEDGE is off: mcp, hook, run, acp and api pass everything on');
  });
});
