import { dirname } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { spawnFailure } from '../../../src/actors/process/spawnFailure.ts';
import { fixture } from './startProcess.ts';

const errno = (code: string) => Object.assign(new Error(`spawn ${code}`), { code });

describe('a failed start', () => {
  it.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])('[S-4] is transient and of ours for %s', (code) => {
    expect(spawnFailure(errno(code), { command: 'cli' })).toMatchObject({
      kind: 'transient',
      code,
      outcome: 'not_started',
      breaker: 'ignored',
    });
  });

  it.each(['ENOENT', 'EACCES', 'E2BIG', 'ERR_INVALID_ARG_VALUE'])('[S-4] is of kind spawn for %s', (code) => {
    const failure = spawnFailure(errno(code), { command: 'cli' });
    expect(failure).toMatchObject({ kind: 'spawn', code, outcome: 'not_started' });
    expect(failure.breaker).toBeUndefined();
  });

  it('[S-4] names the missing interpreter of a script that is there', () => {
    const { message } = spawnFailure(errno('ENOENT'), { command: fixture('silent') });
    expect(message).toContain('the file is there, but the interpreter it names is not');
  });

  it('[S-4] names a working directory that is a file', () => {
    const { message } = spawnFailure(errno('ENOTDIR'), { command: 'cli', cwd: fixture('silent') });
    expect(message).toContain('is not a directory');
  });

  it('[S-4] names a command that is a directory, looked for from its working directory', () => {
    const directory = dirname(fixture('silent'));
    expect(spawnFailure(errno('EACCES'), { command: directory }).message).toContain('it is a directory (EACCES)');
    const { message } = spawnFailure(errno('EACCES'), { command: './fixtures', cwd: dirname(directory) });
    expect(message).toContain('it is a directory (EACCES)');
  });

  it('finds the code of a wrapped error and keeps the error', () => {
    const error = new Error('wrapped', { cause: errno('EMFILE') });
    expect(spawnFailure(error, { command: 'cli' })).toMatchObject({ kind: 'transient', code: 'EMFILE', cause: error });
  });

  it.each(['ENOENT', 'ELOOP'])('[O-8] keeps no argument of an error for %s, which may be a prompt', (code) => {
    const cause = Object.assign(errno(code), { spawnargs: ['my secret'] });
    const fields = { code, originalMessage: cause.message, escapedCommand: "cli 'my secret'" };
    const wrapped = Object.assign(new Error(`Command failed: cli 'my secret'`, { cause }), fields);
    for (const error of [wrapped, cause]) {
      const facts = spawnFailure(error, { command: 'cli' });
      expect(inspect(facts, { depth: 9, showHidden: true })).not.toContain('my secret');
      expect(facts).toMatchObject({ code, cause: { message: `spawn ${code}`, code } });
    }
  });

  it('takes what is no error', () => {
    expect(spawnFailure('boom', { command: 'cli' }).message).toBe('Cannot start "cli": "boom"');
  });
});
