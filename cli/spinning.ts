import type { SpinningChoice } from '../src/policy/spinning/face.ts';
import { text } from './command.ts';
import { valueAmong } from './errors.ts';

const choices = ['off', 'notice', 'tell', 'hold', 'end'] as const satisfies readonly SpinningChoice[];

/** Option of the commands that watch an agent for calls that repeat. */
export const spinningOption = text(
  'HOW',
  'against calls of the agent that repeat in vain: off, notice or tell (they are told of), hold (20 that fail alike, or reads answered alike, end it), or end (30 such reads); else 20 that fail alike end it',
  choices,
);

/** Option of the commands that run an agent. */
export const spendOption = text(
  'LIMITS',
  'what the agent may spend in this run, and in all of a day: tokens=200k,rounds=30,toolCalls=500/day; then it is ended between two calls',
);

/** @throws {@link UsageError} when it is no choice. */
export const spinningOf = (word: string | undefined): SpinningChoice | undefined =>
  word === undefined ? undefined : valueAmong('--spinning', word, choices);
