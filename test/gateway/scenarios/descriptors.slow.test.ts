import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const fixture = fileURLToPath(new URL('../../fixtures/shortOfFiles.mjs', import.meta.url));

describe.runIf(process.platform === 'linux')('a gateway that runs out of descriptors', () => {
  it.each([64, 128, 256])('[S-4] goes on, and each start that failed is the failure of its call: %i', async (most) => {
    const words = [`--nofile=${most}:${most}`, process.execPath, fixture];
    const { stdout } = await promisify(execFile)('prlimit', words);
    const { atOnce, mayLoad, ...rest } = JSON.parse(stdout) as { atOnce: string[]; mayLoad: boolean };
    const none = 'transient EMFILE not_started';
    expect(['ok', none]).toEqual(expect.arrayContaining(atOnce));
    const without = { call: none, hook: 'block', tool: none, alert: 'alert.undelivered' };
    // What could not be loaded then is loaded now.
    expect(rest).toEqual({ without, after: { call: 'ok', hook: 'continue', tool: mayLoad ? 'ok' : none }, strays: [] });
  });
});
