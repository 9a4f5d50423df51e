import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const fixture = fileURLToPath(new URL('../../fixtures/shortOfFiles.mjs', import.meta.url));

describe.runIf(process.platform === 'linux')('a gateway that runs out of descriptors', () => {
  it.each([64, 128, 256])('[S-4] goes on, and each start that failed is the failure of its call: %i', async (most) => {
    const words = [`--nofile=${most}:${most}`, process.execPath, fixture];
    const { stdout } = await promisify(execFile)('prlimit', words);
    const { atOnce, ...rest } = JSON.parse(stdout) as { atOnce: string[] };
    expect(['ok', 'transient EMFILE not_started']).toEqual(expect.arrayContaining(atOnce));
    const without = 'transient EMFILE not_started';
    expect(rest).toEqual({ without, decision: 'block', after: 'ok', strays: [] });
  });
});
