import { describe, expect, it } from 'vitest';
import { classify } from '../../../src/policy/failures/classify.ts';
import { mayRepeat } from '../../../src/policy/failures/repetition.ts';
import { neverExecuted } from '../../../src/policy/failures/notExecuted.ts';

const words = (line: string): readonly [string, readonly string[]] => {
  const [command = '', ...args] = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  return [command, args];
};
const isUnstarted = (line: string, exitCode: number, stderr: string, stdout = ''): boolean => {
  const [command, args] = words(line);
  return neverExecuted({ command, args, exitCode, stderr, stdout });
};

/** A line as libraries tell it, in place of one whose words they have joined. */
const plain = { cmd: 'book --at 7', code: 127, stderr: '/bin/sh: 1: book: not found' };

/** Texts of coreutils 9.7, util-linux 2.41, sudo 1.9, OpenDoas 6.8, BusyBox 1.37, macOS 15, dash 0.5.12, Bash 5.2 and zsh 5.9. */
describe('a command that a wrapper could not execute', () => {
  it.each([
    ['nice book', 127, 'nice: ‘book’: No such file or directory\n'],
    ['nice book', 127, 'nice: book: No such file or directory'],
    ['/usr/bin/nice -n 5 book', 127, '/usr/bin/nice: ‘book’: No such file or directory'],
    ['timeout -k 1 5s book --at 7', 127, 'timeout: failed to run command ‘book’: No such file or directory'],
    ['timeout 5 /opt/book', 126, "timeout: failed to run command '/opt/book': Permission denied"],
    ['setsid -w book', 127, 'setsid: failed to execute book: No such file or directory'],
    ['env A=b C=d book', 127, 'env: ‘book’: No such file or directory'],
    ['nohup ./book', 126, "nohup: failed to run command './book': Permission denied"],
    ['stdbuf -oL book', 127, 'stdbuf: failed to run command ‘book’: No such file or directory'],
    ['ionice -c 3 book', 127, 'ionice: failed to execute book: No such file or directory'],
    ['chrt -o 0 book', 127, 'chrt: failed to execute book: No such file or directory'],
    ['taskset -c 1 book', 127, 'taskset: failed to execute book: No such file or directory'],
    ['prlimit --nofile=64 book', 127, 'prlimit: failed to execute book: No such file or directory'],
    ['unshare -Ur book', 127, 'unshare: failed to execute book: No such file or directory'],
    ['setpriv --reuid 1000 --clear-groups book', 127, 'setpriv: failed to execute book: No such file or directory'],
    ['flock -w 1 /tmp/lock book', 69, 'flock: failed to execute book: No such file or directory'],
    ['sudo -u www -n book', 1, 'sudo: book: command not found'],
    ['doas -u www book', 1, 'doas: book: command not found'],
    ['busybox nice book', 127, "nice: can't execute 'book': No such file or directory"],
    ['env timeout 5 nice -n 1 book', 127, 'nice: ‘book’: No such file or directory'],
    ["sh -c 'book --at 7'", 127, 'sh: 1: book: not found'],
    ['/bin/bash -lc book', 127, '/bin/bash: line 1: book: command not found'],
    ['zsh -c book', 127, 'zsh:1: command not found: book'],
    ['nice sh -ec \'./book "at 7"\'', 126, 'sh: 1: ./book: Permission denied'],
    ['bash book.sh', 127, 'bash: book.sh: No such file or directory'],
  ])('[R-5] [R-12] was not started: %s, %i', (line, exitCode, stderr) => {
    expect(isUnstarted(line, exitCode, stderr)).toBe(true);
    const found = line.includes("'") ? plain : { cmd: line, code: exitCode, stderr };
    expect(classify(found, { wallNow: 0 })).toMatchObject({ kind: 'spawn', outcome: 'not_started' });
  });

  it.each([
    ["sh -c 'book; missing'", 127, 'sh: 1: missing: not found'],
    ["sh -c 'book && missing'", 127, 'sh: 1: missing: not found'],
    ["bash -c 'book\nmissing'", 127, 'bash: line 2: missing: command not found'],
    ["bash -c 'missing $(book)'", 127, 'bash: line 1: missing: command not found'],
    ["sh -c 'missing `book`'", 127, 'sh: 1: missing: not found'],
    ["sh -c 'book | missing'", 127, 'sh: 1: missing: not found'],
    ["sh -c 'missing > ledger'", 127, 'sh: 1: missing: not found'],
    ["env sh -c 'book; missing'", 127, 'sh: 1: missing: not found'],
    ["env bash -c 'book; env missing'", 127, 'env: ‘missing’: No such file or directory'],
    ['sh steps.sh', 127, 'steps.sh: 2: missing: not found'],
    ['bash steps.sh', 127, 'steps.sh: line 2: missing: command not found'],
    ['./steps.sh', 127, './steps.sh: 2: missing: not found'],
    ['./steps.sh', 127, '/usr/bin/env: ‘missing’: No such file or directory'],
    ['nice ./steps.sh missing', 127, 'nice: ‘missing’: No such file or directory'],
    ['nice ./steps.sh', 127, './steps.sh: 2: missing: not found'],
    ['timeout 5 book', 127, ''],
    ['timeout 5 book', 127, 'timeout: failed to run command ‘mail’: No such file or directory'],
    ['timeout -v 5 book', 127, 'timeout: sending signal TERM to command ‘book’'],
    // It had run for the first of several when it was no more.
    ['xargs -n 1 ./book', 127, 'xargs: ./book: No such file or directory'],
    // Not by this `env`: by the first line of a script that it ran.
    ['env A=b node deploy.js', 127, '/usr/bin/env: ‘node’: No such file or directory'],
    ["/bin/sh -c './deploy --now'", 127, '/usr/bin/sh: 1: ./deploy: not found'],
    ['npx missing', 127, 'sh: 1: missing: not found'],
    ['make', 127, 'sh: 1: missing: not found'],
    ['make book', 2, 'make: missing: No such file or directory'],
    ['node steps.js', 127, 'sh: 1: missing: not found'],
    ['nice book', 1, 'nice: ‘book’: No such file or directory'],
    ["env -S 'sh -c' book", 127, 'env: ‘book’: No such file or directory'],
    ['nice --unheard-of book missing', 127, 'nice: ‘missing’: No such file or directory'],
    ['sudo -i missing', 1, 'sudo: missing: command not found'],
  ])('[R-5] [R-12] is told by none of %s, %i: what ran before is not known', (line, exitCode, stderr) => {
    expect(isUnstarted(line, exitCode, stderr)).toBe(false);
    const error = { cmd: line.replaceAll("'", ''), code: exitCode, stderr };
    const facts = classify(error, { wallNow: 0 });
    expect([facts.kind, facts.outcome]).not.toEqual(['spawn', 'not_started']);
    expect(mayRepeat(facts, 'mutating', 'lost')).toBe(exitCode !== 127);
  });

  it('[R-12] is not certain beside other output', () => {
    const line = 'nice: ‘book’: No such file or directory';
    expect(isUnstarted('nice book', 127, `booked\n${line}`)).toBe(false);
    expect(isUnstarted('nice book', 127, line, 'booked')).toBe(false);
    expect(isUnstarted('nice book', 127, line, '\n')).toBe(false);
    expect(isUnstarted('nice book', 127, `\n${line}`)).toBe(false);
    expect(isUnstarted('nice book', 127, `${line}\r\n`)).toBe(true);
  });

  it('[R-12] is found in any words, however long they are or however many', () => {
    const line = 'nice: ‘book’: No such file or directory';
    expect(isUnstarted(`nice ${'book'.repeat(100_000)}`, 127, line)).toBe(false);
    expect(isUnstarted(`sh -c ${'book'.repeat(100_000)}`, 127, 'sh: 1: book: not found')).toBe(false);
    // Each of them might have said it: a regular expression for each takes minutes.
    expect(isUnstarted('nice '.repeat(30_000), 127, line)).toBe(false);
  });
});
