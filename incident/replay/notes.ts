import { formatDuration } from '../../src/policy/duration.ts';
import type { Incident } from '../incident.ts';
import { counted } from '../incidentFiles.ts';
import { isRated } from '../../src/policy/ratePolicy.ts';
import { stallsOf } from './outside.ts';
import type { ReplayedIntegration } from './replayedIntegration.ts';

/** Categories of events that are shown as they were recorded. */
const notPlayed = new Set([
  'process',
  'child',
  'mcp',
  'hook',
  'approval',
  'workflow',
  'alert',
  'codex',
  'agent',
  'host',
  'supervisor',
]);

/** Says what was not played, and what had to be assumed, in sentences. */
export function notesOf(
  { events, missing }: Incident,
  integrations: readonly ReplayedIntegration[],
): readonly string[] {
  const recorded = events.filter(({ category }) => notPlayed.has(category)).length;
  const stalls = stallsOf({ events }, 0);
  return [
    ...missing,
    ...stalls.map(
      ({ stalledMs }) =>
        `The process stood still for ${formatDuration(stalledMs)}: what came or ended in that time may do so in another order.`,
    ),
    ...(recorded > 0 ? [`${counted(recorded, 'event')} of processes, servers and the like: shown, not played.`] : []),
    ...integrations.flatMap(({ plan, operation }) => [
      ...(plan.isShared
        ? [
            `Circuits of ${plan.name} are not compared: events do not tell which of two gateways of the process they are of.`,
          ]
        : []),
      ...(isRated(plan.policy.rate) ? [rateNote(plan)] : []),
      ...(operation.invented > 0
        ? [`${counted(operation.invented, 'attempt')} of ${plan.name} not on record: played as the one before.`]
        : []),
    ]),
  ];
}

function rateNote({ name, hasOwnRate }: ReplayedIntegration['plan']): string {
  return hasOwnRate
    ? `Rate limits of ${name}: its requests are counted anew; other costs, and what answers told of limits, are not on record.`
    : `Rate limits of ${name}: each attempt waits for them as long as it did, and is refused where it was.`;
}
