import {
  appendFileSync,
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { call, runBuilt } from '../startCli.ts';

const shared = { isSidechain: false, sessionId: 's', cwd: '/work', version: '2.1.0' };
const asks = { uuid: 'u', parentUuid: null, type: 'user', message: { role: 'user', content: 'hi' }, ...shared };
const calls = {
  uuid: 'a',
  parentUuid: 'u',
  type: 'assistant',
  message: { id: 'm', role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: {} }] },
  ...shared,
};
const answers = {
  uuid: 'r',
  parentUuid: 'a',
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' }] },
  ...shared,
};
const dangling = `${JSON.stringify(asks)}\n${JSON.stringify(calls)}\n`;

/** A file of a directory of its own. */
function fileWith(content: string | Buffer, name = 'session.jsonl') {
  const home = temporaryDirectory();
  const file = join(home, name);
  writeFileSync(file, content, { mode: 0o640 });
  return { home, file };
}

/** A signal that lets a test act at the n-th moment at which the command looks at it. */
function signalThat(act: (controller: AbortController) => void, moment: number): AbortSignal {
  const controller = new AbortController();
  const { signal } = controller;
  const look = signal.throwIfAborted.bind(signal);
  let looks = 0;
  signal.throwIfAborted = () => {
    if (++looks === moment) act(controller);
    look();
  };
  return signal;
}

describe('unwedge repair', () => {
  it('[G-12] repairs in place, says what it did, and keeps the original and the mode', async () => {
    const { home, file } = fileWith(dangling);
    chmodSync(file, 0o640);
    const { code, stdout, stderr } = await runBuilt(['repair', file]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      `${file}: claude-code`,
      'FOUND                  COUNT  WHERE   REPAIR',
      'call without a result      1  line 2  answered: outcome unknown',
      `1 repair made; the original is ${file}.bak.`,
      '',
    ]);
    expect(readFileSync(`${file}.bak`, 'utf8')).toBe(dangling);
    expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(4);
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(readdirSync(home).sort()).toEqual(['session.jsonl', 'session.jsonl.bak']);
  });

  it.skipIf(process.getuid?.() !== 0)('[G-12] leaves the file to its owner', async () => {
    const { file } = fileWith(dangling);
    chownSync(file, 12_345, 23_456);
    expect((await call(['repair', file])).code).toBe(0);
    const { uid, gid, mode } = statSync(file);
    expect({ uid, gid, mode: mode & 0o777 }).toEqual({ uid: 12_345, gid: 23_456, mode: 0o640 });
  });

  it('[G-12] reads a session that begins with a byte order mark', async () => {
    const { file } = fileWith(`\uFEFF${JSON.stringify(calls)}\r\n${JSON.stringify(answers)}\r\n`);
    const { stdout } = await call(['repair', file]);
    expect(stdout).toBe(`${file}: claude-code\nNothing to repair.\n`);
  });

  it('[G-12] does not touch a file that needs no repair, and numbers further backups', async () => {
    const { home, file } = fileWith(dangling);
    await call(['repair', file]);
    const before = statSync(file);
    expect((await call(['repair', file])).stdout).toContain('Nothing to repair.');
    expect(statSync(file)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
    appendFileSync(file, JSON.stringify({ ...calls, uuid: 'b' }) + '\n');
    await call(['repair', file]);
    expect(readdirSync(home).sort()).toEqual(['session.jsonl', 'session.jsonl.bak', 'session.jsonl.bak2']);
  });

  it('[G-12] only looks with --check: 1 when there is something to repair, else 0', async () => {
    const { home, file } = fileWith(dangling);
    const { code, stdout } = await call(['repair', file, '--check']);
    expect([code, stdout.split('\n').at(-2)]).toEqual([1, '1 repair to make; nothing was changed.']);
    expect(readFileSync(file, 'utf8')).toBe(dangling);
    expect(readdirSync(home)).toHaveLength(1);
    await call(['repair', file]);
    expect((await call(['repair', file, '--check'])).code).toBe(0);
  });

  it('[G-12] writes to --out and leaves the original, also when there is nothing to repair', async () => {
    const { home, file } = fileWith(dangling);
    const [out, again] = [join(home, 'out'), join(home, 'again')];
    expect(await call(['repair', file, '--out', out])).toMatchObject({ code: 0 });
    expect(readFileSync(file, 'utf8')).toBe(dangling);
    expect(readFileSync(out, 'utf8').startsWith(dangling)).toBe(true);
    await call(['repair', out, '--out', again]);
    expect(readFileSync(again)).toEqual(readFileSync(out));
    expect(readdirSync(home).sort()).toEqual(['again', 'out', 'session.jsonl']);
  });

  it('[L-2] gives the report as data', async () => {
    const { file } = fileWith(dangling);
    const { stdout } = await call(['repair', file, '--check', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({
      file,
      format: 'claude-code',
      repairs: 1,
      counts: { unanswered: 1, orphan: 0 },
      unit: 'line',
      findings: [{ rule: 'unanswered', at: 2, callId: 'toolu_1', tool: 'Bash' }],
      written: null,
      backup: null,
    });
  });

  it('[G-12] repairs a JSON document and keeps its indentation', async () => {
    const messages = [
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: calls.message.content },
    ];
    const { file } = fileWith(`${JSON.stringify({ model: 'm', messages }, null, 2)}\n`, 'request.json');
    expect((await call(['repair', file])).stdout).toContain(`${file}: anthropic\n`);
    const text = readFileSync(file, 'utf8');
    expect(text).toBe(`${JSON.stringify(JSON.parse(text), null, 2)}\n`);
    expect(JSON.parse(text)).toMatchObject({ model: 'm', messages: { length: 3 } });
  });

  it('[G-12] copies lines without a change byte for byte, even bytes that are no text', async () => {
    const odd = Buffer.from([0x7b, 0xff, 0xfe, 0x0d, 0x0a]);
    const { file } = fileWith(Buffer.concat([odd, Buffer.from(dangling)]));
    await call(['repair', file]);
    expect(readFileSync(file).subarray(0, odd.length)).toEqual(odd);
  });

  it('[G-12] repairs the file that a link names, and leaves the link one', async () => {
    const { home, file } = fileWith(dangling);
    const link = join(home, 'link');
    symlinkSync(file, link);
    await call(['repair', link]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, 'utf8')).not.toBe(dangling);
  });

  it('[G-12] sees that somebody writes to the file, and changes nothing', async () => {
    const { home, file } = fileWith(dangling);
    // While it is read, when the repaired file is complete, and when the original has its second name.
    for (const moment of [1, 3, 6]) {
      const before = readFileSync(file, 'utf8');
      const signal = signalThat(() => appendFileSync(file, '{}\n'), moment);
      const { code, stderr } = await call(['repair', file], { signal });
      expect([code, stderr]).toEqual([2, expect.stringContaining('was changed while it was read; end what writes it')]);
      expect(readFileSync(file, 'utf8')).toBe(`${before}{}\n`);
      expect(readdirSync(home)).toHaveLength(1);
    }
  });

  it('[G-12] interrupted at any moment leaves the file as it was and nothing else', async () => {
    const { home, file } = fileWith(dangling);
    for (const moment of [1, 2, 3, 4, 5]) {
      const signal = signalThat((controller) => controller.abort(), moment);
      const { code, stderr } = await call(['repair', file], { signal });
      expect([moment, code, stderr]).toEqual([moment, 2, `unwedge: Interrupted; ${file} was not changed.\n`]);
      expect(readFileSync(file, 'utf8')).toBe(dangling);
      expect(readdirSync(home)).toHaveLength(1);
    }
  });

  it.each([
    ['', /is empty\.$/],
    [Buffer.from([0x7b, 0, 1, 2]), /is binary, not a transcript\.$/],
    ['{"messages": [', /is neither JSON nor a session of Claude Code: /],
    ['just words\n', /is neither JSON nor a session of Claude Code: /],
    ['[{"x": 1}]', /Cannot tell the format of \S+: its entries are neither messages nor items; name it with --format/],
    ['{"x": 1}', /to be an array, or an object with an array `messages` or `input`/],
    [Buffer.from([0x5b, 0xff, 0x5d]), /is not UTF-8 text\.$/],
  ])('[L-1] says in one line why it cannot repair %j, and leaves it', async (content, why) => {
    const { home, file } = fileWith(content);
    const { code, stdout, stderr } = await call(['repair', file]);
    expect({ code, stdout, lines: stderr.split('\n').length }).toEqual({ code: 2, stdout: '', lines: 2 });
    expect(stderr.trimEnd()).toMatch(why);
    expect(readFileSync(file)).toEqual(Buffer.from(content));
    expect(readdirSync(home)).toHaveLength(1);
  });

  it('[L-1] names what is wrong with the command line', async () => {
    const { home, file } = fileWith(dangling);
    mkdirSync(join(home, 'dir'));
    const wrong = async (...words: string[]) => {
      const { code, stderr } = await call(['repair', ...words]);
      return `${code} ${stderr}`;
    };
    expect(await wrong()).toMatch(/^2 unwedge: Missing FILE; see/);
    expect(await wrong(join(home, 'none'))).toMatch(/^2 unwedge: There is no file /);
    expect(await wrong(join(home, 'dir'))).toMatch(/is a directory; name one transcript in it/);
    symlinkSync('ring', join(home, 'ring'));
    expect(await wrong(file, '--out', join(home, 'ring'))).toMatch(/^2 unwedge: Cannot write [^\n]+ELOOP[^\n]+\n$/);
    expect(await wrong(file, '--format', 'antropic')).toMatch(
      /^2 unwedge: Unknown format "antropic"; did you mean anthropic\?/,
    );
    expect(await wrong(file, '--out', file)).toMatch(/^2 unwedge: --out names FILE itself/);
    expect(await wrong(file, '--out', join(home, 'dir'))).toMatch(/dir exists already; nothing was written/);
    expect(await wrong(file, '--out', join(home, 'no', 'where'))).toMatch(/Cannot write \S+: ENOENT/);
    expect(await wrong(file, '--check', '--out', 'x')).toMatch(/--check writes nothing; leave out --out/);
    expect(readdirSync(home).sort()).toEqual(['dir', 'ring', 'session.jsonl']);
  });
});
