import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Files, systemFiles } from '../../../install/files.ts';
import { servers, startInstall } from '../startInstall.ts';

const original = servers({ a: { command: 'npx', args: ['p'] }, b: { command: 'mem' } });
const hooks = '{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"x"}]}]}}';

class Killed extends Error {}

function onlyKilled(error: unknown): void {
  if (!(error instanceof Killed)) throw error;
}

const changing = new Set(['create', 'rename', 'remove', 'ensureDirectory', 'makeDirectory', 'removeDirectory']);

/** The file system of a process that is killed before its change number `count`, or in the middle of writing a file. */
function killedAt(count: number, isMidway: boolean): { files: Files; reached: () => boolean } {
  let left = count;
  let dead = false;
  const files = new Proxy(systemFiles, {
    get(target, name: keyof Files) {
      const work = target[name] as (...args: unknown[]) => unknown;
      return (...args: unknown[]) => {
        if (dead) throw new Killed();
        if (changing.has(name) && left-- === 0) {
          dead = true;
          if (isMidway && name === 'create') {
            const [path, bytes, dress] = args as Parameters<Files['create']>;
            target.create(path, bytes.subarray(0, bytes.length / 2), dress);
          }
          throw new Killed();
        }
        return work(...args);
      };
    },
  });
  return { files, reached: () => dead };
}

describe('an installation that is killed', () => {
  it.each([false, true])(
    '[E-4] leaves each file whole and undoable wherever it is killed (midway: %s)',
    async (isMidway) => {
      for (const undo of [false, true]) {
        let count = 0;
        for (let isReached = true; isReached; count++) {
          const machine = startInstall({ now: () => Date.now() + 3_600_000 });
          machine.write('home/.claude.json', original);
          machine.write('home/.claude/settings.json', hooks);
          if (undo) await machine.run();
          const wrapped = startInstall();
          wrapped.write('home/.claude.json', original);
          await wrapped.run();
          const { files, reached } = killedAt(count, isMidway);
          await machine.run({ undo }, { files }).catch(onlyKilled);
          isReached = reached();
          const whole = [original, wrapped.read('home/.claude.json').replaceAll(wrapped.root, machine.root)];
          expect(whole).toContain(machine.read('home/.claude.json'));
          // What was killed has left its locks: they are old by now.
          await machine.undo();
          expect(machine.read('home/.claude.json')).toBe(original);
          expect(machine.read('home/.claude/settings.json')).toBe(hooks);
          await machine.run();
          await machine.undo();
          expect(machine.read('home/.claude.json')).toBe(original);
          const leftOver = readdirSync(machine.at('home'), { recursive: true }).filter((name) =>
            /tmp|lock/.test(String(name)),
          );
          expect(leftOver).toEqual([]);
        }
        expect(count).toBeGreaterThan(20);
      }
    },
  );
});
