import type { Incident } from '../incident/incident.ts';
import { isRated } from '../policy/ratePolicy.ts';
import type { ReplayedIntegration } from './replayedIntegration.ts';

/** What is shown as it was recorded, by the category of its events. */
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

/** What was not played, and what had to be assumed, in sentences. */
export function notesOf(
  { events, missing }: Incident,
  integrations: readonly ReplayedIntegration[],
): readonly string[] {
  const recorded = events.filter(({ category }) => notPlayed.has(category)).length;
  return [
    ...missing,
    ...(recorded > 0
      ? [`${recorded} events of processes, servers and the like are as they were recorded: they are not played.`]
      : []),
    ...integrations.flatMap(({ plan, operation }) => [
      ...(isRated(plan.policy.rate)
        ? [`Rate limits of ${plan.name} are not played: its calls come when they were let pass.`]
        : []),
      ...(operation.invented > 0
        ? [`${operation.invented} attempts of ${plan.name} are not on record: they end as the one before did.`]
        : []),
    ]),
  ];
}
