import { expect, it } from 'vitest';
import { openClawReason } from '../../src/machines/subprocessExit.ts';

it.each([
  ['exit', 'exit'],
  ['signal', 'signal'],
  ['overall-timeout', 'overall-timeout'],
  ['no-output-timeout', 'no-output-timeout'],
  ['cancelled', 'manual-cancel'],
  ['output-limit', 'manual-cancel'],
  ['spawn-error', 'spawn-error'],
] as const)('[S-2] the reason %s is called %s by OpenClaw', (ours, theirs) => {
  expect(openClawReason(ours)).toBe(theirs);
});
