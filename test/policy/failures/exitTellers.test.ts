import { describe, expect, it } from 'vitest';
import { exitTellers } from '../../../src/policy/failures/exitTellers.ts';

const tellersOf = (line: string): string => {
  const [command = '', ...args] = line.split(' ');
  return [...exitTellers(command, args)].join(' ');
};

describe('the programs that tell something by an exit code', () => {
  it.each([
    ['git diff --bogus', ''],
    ['node steps.js', ''],
    ['./steps.sh', ''],
    ['python3 -c import', ''],
    ['sh -c make', 'shell'],
    ['/usr/bin/bash -lc make', 'shell'],
    ['zsh steps.zsh', 'shell'],
    ['busybox sh -c make', 'shell'],
    ['env make', ''],
    ['env -i -u HOME A=b C= sh -c make', 'shell'],
    ['env --unset=HOME -C /tmp -- dash -c make', 'shell'],
    ['nice make', ''],
    ['nice -n 5 sh -c make', 'shell'],
    ['nice -10 sh -c make', 'shell'],
    ['setsid -w sh -c make', 'shell'],
    ['nohup sh -c make', 'shell'],
    ['stdbuf -oL -e 0 sh -c make', 'shell'],
    ['timeout 5s make', 'timeout'],
    ['timeout -s KILL -k 1 --foreground 5 nice -n 1 sh -c make', 'timeout shell'],
    ['/usr/bin/timeout --signal=INT 5 sh -c make', 'timeout shell'],
    ['timeout 5 env make', 'timeout'],
    ['timeout --preserve-status 5 make', ''],
    ['timeout -p 5 sh -c make', 'shell'],
    // An option that is not known may have a value, which would then be taken for the command.
    ['env -S sh -c make', ''],
    ['nice --unknown sh -c make', ''],
    ['timeout', 'timeout'],
    ['timeout 5', 'timeout'],
    ['constructor', ''],
  ])('[S-9] are, of %j, %j', (line, tellers) => {
    expect(tellersOf(line)).toBe(tellers);
  });
});
