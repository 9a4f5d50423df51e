import { chmodSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { socketPath } from '../../src/control/socketPath.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const uid = process.getuid?.() ?? 0;
const id = '0123456789abcdef';
const modeOf = (path: string): number => statSync(path).mode & 0o777;

function surroundings(env: Record<string, string> = {}) {
  return { env, tmp: temporaryDirectory(), uid };
}

describe('the path of a control socket', () => {
  it('[L-5] is in a directory of XDG_RUNTIME_DIR that its user alone may enter', () => {
    const runtime = temporaryDirectory();
    expect(socketPath(id, surroundings({ XDG_RUNTIME_DIR: runtime }))).toEqual({
      ok: true,
      path: join(runtime, 'unwedge', '0123456789ab.sock'),
    });
    expect(modeOf(join(runtime, 'unwedge'))).toBe(0o700);
  });

  it('[L-5] is among the temporary files where there is no XDG_RUNTIME_DIR of this user', () => {
    for (const env of [{}, { XDG_RUNTIME_DIR: 'relative' }, { XDG_RUNTIME_DIR: '/nonexistent/run' }]) {
      const given = surroundings(env);
      expect(socketPath(id, given)).toEqual({ ok: true, path: join(given.tmp, `unwedge-${uid}`, '0123456789ab.sock') });
      expect(modeOf(join(given.tmp, `unwedge-${uid}`))).toBe(0o700);
    }
  });

  it('leaves the XDG_RUNTIME_DIR of another user alone', () => {
    const runtime = temporaryDirectory();
    const given = { ...surroundings({ XDG_RUNTIME_DIR: runtime }), uid: uid + 1 };
    socketPath(id, given);
    expect(() => statSync(join(runtime, 'unwedge'))).toThrow('ENOENT');
  });

  it('[L-5] takes a directory that is there again, as long as it is private', () => {
    const given = surroundings();
    const directory = join(given.tmp, `unwedge-${uid}`);
    mkdirSync(directory, { mode: 0o700 });
    expect(socketPath(id, given).ok).toBe(true);
    chmodSync(directory, 0o710);
    expect(socketPath(id, given)).toEqual({
      ok: false,
      reason: `${directory} is open to others (mode 0710)`,
      fix: `run \`chmod 700 ${directory}\``,
    });
  });

  it('[L-5] [Q-6] refuses a directory of another user', () => {
    const tmp = temporaryDirectory();
    mkdirSync(join(tmp, `unwedge-${uid + 1}`), { mode: 0o700 });
    expect(socketPath(id, { env: {}, tmp, uid: uid + 1 })).toMatchObject({
      ok: false,
      reason: expect.stringContaining(`belongs to another user (${uid})`) as string,
      fix: expect.stringContaining('XDG_RUNTIME_DIR') as string,
    });
  });

  it('[L-5] [Q-6] refuses a link and a file in place of its directory', () => {
    const linked = surroundings();
    symlinkSync(temporaryDirectory(), join(linked.tmp, `unwedge-${uid}`));
    expect(socketPath(id, linked)).toMatchObject({ reason: expect.stringContaining('is no directory') as string });
    const blocked = surroundings();
    writeFileSync(join(blocked.tmp, `unwedge-${uid}`), '');
    expect(socketPath(id, blocked).ok).toBe(false);
  });

  it('[L-5] is never longer than a socket can have it', () => {
    const runtime = temporaryDirectory();
    const fits = join(runtime, 'x'.repeat(103 - join(runtime, '', 'unwedge', '0123456789ab.sock').length - 1));
    mkdirSync(fits);
    mkdirSync(`${fits}x`);
    const at = (directory: string) => socketPath(id, surroundings({ XDG_RUNTIME_DIR: directory }));
    expect(at(fits)).toEqual({ ok: true, path: join(fits, 'unwedge', '0123456789ab.sock') });
    expect(at(`${fits}x`)).not.toMatchObject({ path: expect.stringContaining(fits) as string });
  });

  it('is none where the system has no users', () => {
    expect(socketPath(id, { env: {}, tmp: temporaryDirectory(), uid: undefined }).ok).toBe(false);
  });
});
