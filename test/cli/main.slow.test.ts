import { describe, expect, it } from 'vitest';
import { commands } from '../../cli/commands.ts';
import { runBuilt } from './startCli.ts';

describe('the built command line', () => {
  it.each(Object.keys(commands))('[L-1] loads %s, and explains it with --help, wherever that stands', async (name) => {
    const { code, stdout, stderr } = await runBuilt([name, '--nonsense', '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain(`Usage: unwedge ${name} `);
    expect((await runBuilt(['help', name])).stdout).toBe(stdout);
  });
});
