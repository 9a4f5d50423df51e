import { describe, expect, it } from 'vitest';
import {
  commandLineBytes,
  commandLineLimit,
  stackShare,
  spawnObstacle,
} from '../../../src/actors/process/spawnObstacle.ts';
import { breakerOutcome } from '../../../src/policy/breaker.ts';

describe('an obstacle to starting', () => {
  it('[S-4] is none for a plain command', () => {
    expect(spawnObstacle({ command: 'cli', args: ['a'], cwd: '/', env: { A: '1', B: undefined } })).toBeUndefined();
  });

  it.each([
    [{ command: 'a\0b' }, 'the command'],
    [{ command: 'cli', args: ['x', 'a\0b'] }, 'argument 2'],
    [{ command: 'cli', cwd: 'a\0b' }, 'the working directory'],
    [{ command: 'cli', env: { TOKEN: 'a\0b' } }, 'the variable "TOKEN"'],
  ])('[S-4] is a null byte in %o', (line, where) => {
    expect(spawnObstacle(line)).toMatchObject({
      kind: 'spawn',
      code: 'ERR_INVALID_ARG_VALUE',
      outcome: 'not_started',
      message: expect.stringContaining(`${where} cannot hold a null byte`) as string,
    });
  });
});

describe.runIf(process.platform === 'linux')('a command line that is too long', () => {
  it('[S-4] has an argument of more than 131071 bytes, not characters', () => {
    expect(spawnObstacle({ command: 'cli', args: ['ä'.repeat(65_535)] })).toBeUndefined();
    expect(spawnObstacle({ command: 'cli', args: ['-p', 'ä'.repeat(65_536)] })).toMatchObject({
      kind: 'spawn',
      code: 'E2BIG',
      message: 'Cannot start "cli": argument 2 has 131072 bytes; at most 131071 are allowed (E2BIG)',
    });
  });

  it('[S-4] has a variable of more than 131071 bytes with its name', () => {
    expect(spawnObstacle({ command: 'cli', env: { A: 'x'.repeat(131_069) } })).toBeUndefined();
    expect(spawnObstacle({ command: 'cli', env: { A: 'x'.repeat(131_070) } })?.message).toContain(
      'the variable "A" has 131072 bytes',
    );
  });

  it('[S-4] is over the limit of the system, environment included', () => {
    const word = 'x'.repeat(1000);
    const args = Array<string>(Math.floor(commandLineLimit() / commandLineBytes([word])) - 1).fill(word);
    const rest = commandLineLimit() - commandLineBytes([...args, 'c', 'A=']);
    expect(spawnObstacle({ command: 'c', args, env: { A: 'x'.repeat(rest) } })).toBeUndefined();
    expect(spawnObstacle({ command: 'c', args, env: { A: 'x'.repeat(rest + 1) } })).toMatchObject({ code: 'E2BIG' });
  });

  it('[S-4] says nothing to the breaker', () => {
    const obstacle = spawnObstacle({ command: 'cli', args: ['x'.repeat(131_072)] });
    expect(obstacle && breakerOutcome(obstacle)).toBe('ignored');
  });
});

describe('the share of the stack', () => {
  const limits = (soft: string) =>
    `Max data size   unlimited  unlimited bytes\nMax stack size  ${soft}  unlimited  bytes\n`;

  it.each([
    ['8388608', 2_097_152],
    ['unlimited', 6 * 1024 * 1024],
    ['1000000000', 6 * 1024 * 1024],
    ['65536', 131_072],
  ])('[S-4] of %s is %d bytes', (soft, bytes) => {
    expect(stackShare(limits(soft))).toBe(bytes);
  });

  it('[S-4] is no limit where the system does not say', () => {
    expect(stackShare('')).toBe(Number.POSITIVE_INFINITY);
  });
});
