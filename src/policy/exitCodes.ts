import { read, readInteger, readString } from './errorChain.ts';
import type { Finding } from './finding.ts';

/** Signals by the number that shells add to 128. */
const signals = new Map([
  [129, 'SIGHUP'],
  [130, 'SIGINT'],
  [131, 'SIGQUIT'],
  [134, 'SIGABRT'],
  [137, 'SIGKILL'],
  [139, 'SIGSEGV'],
  [143, 'SIGTERM'],
]);

/** What the end of a process means, as execa and `child_process` throw it; a plain exit code leaves room for its stderr. */
export function byExit(error: unknown): Finding | undefined {
  // `exec` keeps the exit code in `code`, and always names its command.
  const exitCode =
    readInteger(error, 'exitCode') ?? (readString(error, 'cmd') === undefined ? undefined : readInteger(error, 'code'));
  const signal = readString(error, 'signal') ?? signals.get(exitCode ?? 0);
  if (read(error, 'isCanceled') === true) return { kind: 'cancelled', outcome: 'cancelled', code: signal };
  if (read(error, 'timedOut') === true) return { kind: 'timeout', outcome: 'unknown', code: signal };
  if (signal?.startsWith('SIG') === true) return { kind: 'crash', outcome: 'unknown', code: signal };
  if (exitCode === undefined || exitCode === 0) return undefined;
  if (exitCode === 124) return { kind: 'timeout', outcome: 'unknown', code: exitCode };
  // Of `env` and shells: found but not executable, and not found.
  if (exitCode === 126 || exitCode === 127) return { kind: 'spawn', outcome: 'not_started', code: exitCode };
  return { kind: 'unknown', outcome: 'failed', code: exitCode };
}
