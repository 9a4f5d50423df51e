import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { resultsDirectory } from '../../src/store/paths.ts';
import { ResultFiles } from '../../src/store/resultFiles.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const dayMs = 24 * 3_600_000;

function startFiles() {
  const directory = join(temporaryDirectory(), 'of', 'results');
  let now = Date.UTC(2026, 10, 30);
  const files = new ResultFiles(directory, () => now);
  return {
    directory,
    files,
    skip: (ms: number) => void (now += ms),
    names: () => readdirSync(directory),
    text: (owner: string, handle: string, from = 0, bytes = 1000) =>
      files.read(owner, handle, from, bytes)?.part.toString(),
  };
}

describe('the files of large results', () => {
  it('[P-12] are read by their owner alone, and by no other user', () => {
    const { directory, files, names, text } = startFiles();
    const handle = files.keep('a', Buffer.from('whole'));
    expect(text('a', handle)).toBe('whole');
    expect(text('b', handle)).toBeUndefined();
    const [name = ''] = names();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  });

  it('[P-12] have handles that nobody guesses, and that lead nowhere else', () => {
    const { directory, files, text } = startFiles();
    const handles = Array.from({ length: 50 }, () => files.keep('a', Buffer.from('x')));
    expect(new Set(handles).size).toBe(50);
    for (const handle of handles) expect(handle).toMatch(/^[\w-]{24}$/);
    writeFileSync(join(directory, '..', 'secret'), 's3cret');
    for (const wrong of ['../secret', '', '.', 'x'.repeat(24), `${handles[0]}x`, `/../${'s'.repeat(20)}`, '\0'])
      expect(text('a', wrong)).toBeUndefined();
  });

  it('[P-12] are read in parts, and no part has more than there is', () => {
    const { files, text } = startFiles();
    const handle = files.keep('a', Buffer.from('0123456789'));
    expect([text('a', handle, 3, 4), text('a', handle, 8, 100), text('a', handle, 10), text('a', handle, 99)]).toEqual([
      ...['3456', '89', '', ''],
    ]);
    expect(files.read('a', handle, 0, Number.MAX_SAFE_INTEGER)?.part).toHaveLength(10);
  });

  it('[P-12] are kept for a day', () => {
    const { files, skip, text, names } = startFiles();
    const handle = files.keep('a', Buffer.from('x'));
    skip(dayMs);
    files.sweep();
    expect(text('a', handle)).toBe('x');
    skip(1);
    expect(text('a', handle)).toBeUndefined();
    files.sweep();
    expect(names()).toEqual([]);
  });

  it('[P-12] are 500 at most, of more the oldest go', () => {
    const { files, skip, names, text } = startFiles();
    const handles = Array.from({ length: 502 }, () => {
      skip(1000);
      return files.keep('a', Buffer.from('x'));
    });
    expect(names()).toHaveLength(500);
    expect(handles.slice(0, 3).map((handle) => text('a', handle))).toEqual([undefined, undefined, 'x']);
  });

  it('[P-12] of an owner are erased without those of others', () => {
    const { files, text } = startFiles();
    const [one, other] = [files.keep('a', Buffer.from('1')), files.keep('ab', Buffer.from('2'))];
    files.forget('a');
    expect([text('a', one), text('ab', other)]).toEqual([undefined, '2']);
    files.forget('nobody');
  });

  it('[P-12] that cannot be written leave nothing, and say why', () => {
    const { directory, files } = startFiles();
    mkdirSync(join(directory, '..'), { recursive: true });
    writeFileSync(directory, 'a file in its place');
    expect(() => files.keep('a', Buffer.from('x'))).toThrow(/ENOTDIR|EEXIST/);
    expect(readFileSync(directory, 'utf8')).toBe('a file in its place');
    expect(new ResultFiles('/proc/nowhere/results', Date.now).read('a', 'x'.repeat(24), 0, 1)).toBeUndefined();
    new ResultFiles('/proc/nowhere/results', Date.now).sweep();
  });

  it('[P-12] lie beside the database, or in the state directory of their user', () => {
    const env = { XDG_STATE_HOME: '/state' };
    expect(resultsDirectory('/data/agents.sqlite', env)).toBe('/data/results');
    expect(resultsDirectory(':memory:', env)).toBe('/state/unwedge/results');
    expect(resultsDirectory('postgres://db/agents', env)).toBe('/state/unwedge/results');
  });

  it('[P-12] end with the process of their owner, however that ended', async () => {
    const { directory, files, names, text } = startFiles();
    const [gone, lives, lasts] = ['gone', 'lives', 'lasts'].map((owner) => files.keep(owner, Buffer.from(owner)));
    await files.endsWithProcess('lives');
    await files.endsWithProcess('gone');
    const note = names().find(
      (name) =>
        name.startsWith(
          names()
            .find((each) => each.endsWith(gone ?? ''))
            ?.slice(0, 33) ?? '',
        ) && name.endsWith('process'),
    );
    const said = JSON.parse(readFileSync(join(directory, note ?? ''), 'utf8')) as unknown[];
    writeFileSync(join(directory, note ?? ''), JSON.stringify(said.with(3, 'earlier@boot@ns')));
    await files.sweepGone();
    expect(text('gone', gone ?? '')).toBeUndefined();
    expect([text('lives', lives ?? ''), text('lasts', lasts ?? '')]).toEqual(['lives', 'lasts']);
    expect(names()).toHaveLength(3);
    files.forget('lives');
    expect(names()).toHaveLength(1);
  });
});
