import type { WatchedAlert } from '../src/control/answers.ts';
import type { AskedRuntime } from './askRuntimes.ts';

/** Gives what live gateways say of the alerts that they watch, by integration: of several the one that clears it last. */
export function watchedAlerts(
  asked: readonly Pick<AskedRuntime<readonly WatchedAlert[]>, 'answer'>[],
): ReadonlyMap<string, WatchedAlert> {
  const answers = asked.flatMap(({ answer = [] }) => answer);
  const ordered = [
    ...answers.filter(({ once }) => once === undefined),
    ...answers.filter(({ once }) => once !== undefined),
  ];
  return new Map(ordered.map((answer) => [answer.integration, answer]));
}
