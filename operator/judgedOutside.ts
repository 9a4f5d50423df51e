import type { LiveStatus } from '../src/control/face.ts';
import type { AlertCause } from '../src/policy/facts/face.ts';
import { defaultAlertRule } from '../src/policy/face.ts';
import type { ShownName } from '../src/redaction/face.ts';
import type { IntegrationStatus, RuntimeFailures, UnwatchedAlert } from '../reader/storeReader.ts';
import type { AskedRuntime } from './askRuntimes.ts';

/** Runs of one command watch nothing: they end before anybody could be told. */
const hasNoWatch = (name: string): boolean => /^unwedge (?:run|agent) /.test(name);

type Asked = Pick<AskedRuntime<Pick<LiveStatus, 'integrations'>>, 'runtime' | 'answer'>;

/**
 * Keeps of the alerts that nobody watched those that are for others to judge: a live gateway has judged its own failures and crashes, by its own
 * thresholds or with alerts switched off, and what it found on record of its integrations at its start.
 * @param integrations - as they are on record, by the process that recorded them.
 */
export function judgedOutside<A extends UnwatchedAlert>(
  unwatched: readonly A[],
  integrations: readonly IntegrationStatus[],
  asked: readonly Asked[],
  shown: ShownName = (name) => name,
): readonly A[] {
  const watching = asked.filter(({ runtime }) => runtime.liveness !== 'dead' && !hasNoWatch(runtime.name));
  if (watching.length === 0) return unwatched;
  return unwatched.flatMap((alert) => {
    const name = shown(alert.integration);
    const rows = integrations.filter(({ integration }) => shown(integration) === name);
    const parts = rows.flatMap(({ runtimes }) => runtimes);
    const isJudged = (part: RuntimeFailures): boolean => watching.some((each) => hasJudged(each, name, part, shown));
    const judged = parts.filter(isJudged);
    if (judged.length === 0) return [alert];
    const failures = alert.failures - sumOf(judged, 'failures10m');
    const crashes = alert.crashes - sumOf(judged, 'crashes10m');
    const isLeft = failures >= defaultAlertRule.failures || crashes >= defaultAlertRule.crashes;
    const because: AlertCause = failures >= defaultAlertRule.failures ? 'failures' : 'crashes';
    const left = lastOf(parts.filter((part) => !judged.includes(part)));
    return isLeft ? [{ ...alert, ...left, because, failures, crashes }] : [];
  });
}

function hasJudged(
  { runtime, answer }: Asked,
  name: string,
  { pid, lastError }: RuntimeFailures,
  shown: ShownName,
): boolean {
  const at = lastError?.at ?? 0;
  // A process of before may have had its pid.
  if (at >= runtime.startedAt) return pid === runtime.pid;
  return answer?.integrations.some(({ integration }) => shown(integration) === name) === true;
}

/** The words of the last failure among them; none where that is not known. */
function lastOf(parts: readonly RuntimeFailures[]): Partial<UnwatchedAlert> {
  const [last] = parts.flatMap(({ lastError }) => lastError ?? []).sort((one, other) => other.at - one.at);
  return last === undefined ? {} : { lastFailureAt: last.at, kind: last.kind, message: last.error };
}

function sumOf(parts: readonly RuntimeFailures[], figure: 'failures10m' | 'crashes10m'): number {
  return parts.reduce((sum, part) => sum + part[figure], 0);
}
