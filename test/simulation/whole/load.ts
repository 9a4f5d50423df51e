import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadExeca } from '../../../src/actors/process/execaPackage.ts';

/** Rooms whose files may be loaded at their first use, which takes real time. */
const rooms = ['src', 'agents/codex', 'workflow', 'proxy/mcp', 'proxy/acp', 'proxy/wire'];

/** Loads all of the runtime that is simulated, so that no seed waits for a file. */
export async function loadAll(): Promise<void> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  for (const room of rooms) {
    const files = await readdir(join(root, room), { recursive: true }).catch(() => []);
    for (const file of files) {
      const isCode = /\.[jt]s$/.test(file) && !/\.d\.ts$|Program\.[jt]s$/.test(file);
      if (isCode) await import(/* @vite-ignore */ join(root, room, file));
    }
  }
  await loadExeca();
}
