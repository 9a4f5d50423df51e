import { effects } from '../policy/effects.ts';
import { callback, choice, duration, type KeysOf, signal, text, type Values } from '../policy/optionKeys.ts';
import type { AgentStreamOptions, AgentTurnOptions } from './agentTypes.ts';

/** The options of a turn. */
export const turnKeys = {
  signal,
  effect: choice(effects),
  label: text(),
  idleMs: duration(),
  overallMs: duration(),
} satisfies KeysOf<AgentTurnOptions>;

/** The options of a turn that is read as it comes. */
export const streamKeys = {
  ...turnKeys,
  resume: callback<NonNullable<AgentStreamOptions['resume']>>(),
} satisfies KeysOf<AgentStreamOptions>;

/** {@link AgentTurnOptions}, checked; limits in ms. */
export type CheckedTurn = Values<typeof turnKeys>;
