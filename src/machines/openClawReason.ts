import type { ProcessExitReason } from './subprocessExit.ts';

/** Why a run ended, as OpenClaw's process supervisor says it (`TerminationReason`). */
export type OpenClawReason =
  | 'manual-cancel'
  | 'overall-timeout'
  | 'no-output-timeout'
  | 'spawn-error'
  | 'signal'
  | 'exit';

/** OpenClaw has no limit on output: a run that is ended for it is one that its owner cancelled. */
const reasons: Readonly<Record<ProcessExitReason, OpenClawReason>> = {
  exit: 'exit',
  signal: 'signal',
  'overall-timeout': 'overall-timeout',
  'no-output-timeout': 'no-output-timeout',
  cancelled: 'manual-cancel',
  'output-limit': 'manual-cancel',
  'output-cut': 'manual-cancel',
  'spawn-error': 'spawn-error',
};

/** OpenClaw's name for the reason of an exit: `cancelled` and `output-limit` are its `manual-cancel`, the others are called the same. */
export function openClawReason(reason: ProcessExitReason): OpenClawReason {
  return reasons[reason];
}
