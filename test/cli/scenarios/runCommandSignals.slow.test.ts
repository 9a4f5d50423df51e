import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { allGone } from '../../actors/process/startProcess.ts';
import { openDatabase } from '../../store/startStore.ts';
import { fixture, main, type Run, startPlace } from '../startRun.ts';

/** Pids of a command that is ready, and of its child in a session of its own. */
async function pidsOf(run: Run): Promise<number[]> {
  const [line] = await run.seen(/\{.*\}/);
  return Object.values(JSON.parse(line) as Record<string, number>);
}

describe('unwedge run that is told to end', () => {
  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('[L-4] [S-3] passes %s on and exits with 128+n', async (signal, code) => {
    const text = `process.on('${signal}', () => { console.log('got ${signal}'); process.exit(3); });
      setInterval(() => {}, 1e6); console.log('ready');`;
    const run = startPlace().start(['--', process.execPath, '-e', text]);
    await run.seen(/ready/);
    run.child.kill(signal);
    const ended = await run.ended;
    expect(ended).toMatchObject({ code, stderr: `unwedge: ended by ${signal}\n` });
    expect(ended.stdout.toString()).toBe(`ready\ngot ${signal}\n`);
  });

  it('[L-4] reports the exit code that it has, though the command ended well, and what an agent may have done', async () => {
    const stops = `process.on('SIGINT', () => process.exit(0)); setInterval(() => {}, 1e6);
      console.error('ready');`;
    const acts = `console.log(JSON.stringify({ type: 'assistant', session_id: 's-1',
      message: { content: [{ type: 'tool_use', id: 't', name: 'Bash' }] } }));`;
    const place = startPlace();
    const program = join(place.directory, 'claude.mjs');
    writeFileSync(program, `${acts}${stops}`);
    const words = [process.execPath, program, '-p', '--output-format', 'stream-json'];
    const run = place.start(['--json', '--agent', 'claude', '--', ...words]);
    await once(run.child.stderr, 'data');
    run.child.kill('SIGINT');
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(130);
    expect(JSON.parse(stdout.toString())).toMatchObject({ exit_code: 130, kind: 'cancelled', effects: 'possible' });
    expect(stderr).toMatch(
      /unwedge: ended by SIGINT\nunwedge: it may have changed something.*claude --resume s-1, and have it check what its last call did\n$/,
    );
  });

  it('[I-3] [L-4] leaves no process behind, also none in a session of its own', async () => {
    const run = startPlace().start(['--', process.execPath, fixture('forker.mjs')]);
    const pids = await pidsOf(run);
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(143);
    await allGone(...pids);
  });

  it('[L-4] forces the end with the second signal', async () => {
    const run = startPlace().start(['--', process.execPath, fixture('stubborn.mjs')]);
    const pids = await pidsOf(run);
    run.child.kill('SIGINT');
    run.child.kill('SIGTERM');
    run.child.kill('SIGTERM');
    expect([130, 143]).toContain((await run.ended).code);
    await allGone(...pids);
  });

  it('[I-3] [L-4] leaves nothing behind by the second signal that outlived the command in a session of its own', async () => {
    const text = `const { spawn } = require('node:child_process');
      const stubborn = "process.on('SIGTERM', () => {}); process.on('SIGINT', () => {}); setInterval(() => {}, 1e6); console.log(process.pid)";
      spawn(process.execPath, ['-e', stubborn], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
      process.on('exit', () => console.log('the command has gone'));
      process.on('SIGINT', () => process.exit());`;
    const run = startPlace().start(['--', process.execPath, '-e', text]);
    const [pid] = await run.seen(/\d+/);
    run.child.kill('SIGINT');
    await run.seen(/gone/);
    run.child.kill('SIGINT');
    expect((await run.ended).code).toBe(130);
    await allGone(Number(pid));
  });

  it('[I-3] ends what a command left in the background', async () => {
    const run = startPlace().start(['--', 'sh', '-c', 'sleep 1000 >/dev/null 2>&1 & echo $!']);
    const [pid] = await run.seen(/\d+/);
    expect((await run.ended).code).toBe(0);
    await allGone(Number(pid));
  });

  it('[I-3] [S-2] ends what a command left in the background with its output, which is no success: its end is not known', async () => {
    const run = startPlace().start(['--', 'sh', '-c', 'sleep 1000 & echo $!']);
    const [pid] = await run.seen(/\d+/);
    const { code, stderr } = await run.ended;
    expect(code).toBe(1);
    expect(stderr).toContain('sh exited with code 0, and a process that it started goes on and holds its output');
    await allGone(Number(pid));
  });

  it('[L-4] ends quietly, and the command with it, when nobody reads on', async () => {
    const run = startPlace().start(['--', 'sh', '-c', 'echo $$; exec yes'], { unread: true });
    const pid = await new Promise<number>((resolve) => {
      run.child.stdout.once('data', (chunk) => {
        run.child.stdout.destroy();
        resolve(Number.parseInt(String(chunk), 10));
      });
    });
    expect(await run.ended).toMatchObject({ code: 141, stderr: '' });
    await allGone(pid);
  });

  it('[L-4] waits for its prompt no longer than it may', async () => {
    const run = startPlace().start(['--prompt-file', '-', '--', 'cat']);
    run.child.stdin.write('half a prompt');
    // Its handlers are there when it has taken what was written.
    await new Promise((resolve) => run.child.stdin.once('drain', resolve).write(Buffer.alloc(1_000_000)));
    run.child.kill('SIGTERM');
    expect((await run.ended).code).toBe(143);
  });
});

/** Runs a command on a terminal of its own, whose keyboard is its stdin. */
const script = '/usr/bin/script';

describe.skipIf(process.platform !== 'linux' || !existsSync(script))('unwedge run on a terminal', () => {
  it('[L-4] lets the command read from it', async () => {
    const command = `'${process.execPath}' '${main}' run -- sh -c 'read x </dev/tty; echo "tty said $x"; test -t 1'`;
    const terminal = spawn(script, ['-qefc', command, '/dev/null'], {
      env: { ...process.env, UNWEDGE_DB: ':memory:' },
    });
    let seen = '';
    terminal.stdout.on('data', (chunk) => (seen += String(chunk)));
    terminal.stdin.write('typed\n');
    expect(await once(terminal, 'close')).toEqual([0, null]);
    expect(seen).toContain('tty said typed');
  });

  it('[L-4] takes a command that Ctrl-C ended for cancelled: it says nothing, counts nothing and raises no alert', async () => {
    const place = startPlace();
    const words = 'run --name devserver -- sh -c "echo ready; exec sleep 1000"';
    const terminal = spawn(script, ['-qefc', `exec '${process.execPath}' '${main}' ${words}`, '/dev/null'], {
      env: { ...process.env, UNWEDGE_DB: place.db },
    });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    let seen = '';
    terminal.stdout.on('data', (chunk) => {
      seen += String(chunk);
      if (seen.includes('ready') && !seen.includes('^C')) terminal.stdin.write('\u0003');
    });
    expect(await once(terminal, 'close')).toEqual([130, null]);
    expect(seen).not.toContain('unwedge:');
    const rows = openDatabase(place.db).prepare(`SELECT metadata FROM events WHERE event_type = 'failure'`).all();
    expect(rows.map(({ metadata }) => JSON.parse(String(metadata)) as unknown)).toMatchObject([{ kind: 'cancelled' }]);
    expect(place.breaker('devserver')?.failures ?? 0).toBe(0);
  });
});
