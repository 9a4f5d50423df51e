import type { LiveIntegration, LiveStatus } from '../control/answers.ts';
import type { IntegrationStatus } from '../store/status.ts';
import type { AskedRuntime } from './liveRuntimes.ts';

/** An integration as the records and the live runtimes together show it. */
export interface IntegrationView extends Omit<IntegrationStatus, 'circuit'> {
  /** Of several live runtimes the one that lets the least through; without any, as it was last kept. */
  readonly circuit: LiveIntegration['circuit'];
  /** What each live runtime that has it says. */
  readonly live: readonly (Omit<LiveIntegration, 'integration'> & { readonly runtime: string })[];
}

/** The circuits that let through the least first. */
const severity: readonly LiveIntegration['circuit'][] = ['isolated', 'open', 'half-open', 'crashed', 'closed'];

/** Every integration that is on record or known to a live runtime, by name. */
export function viewOf(
  recorded: readonly IntegrationStatus[],
  asked: readonly AskedRuntime<LiveStatus>[],
): readonly IntegrationView[] {
  const live = asked.flatMap(({ runtime, answer }) =>
    (answer?.integrations ?? []).map(({ integration, ...each }) => ({
      integration,
      each: { ...each, runtime: runtime.id },
    })),
  );
  const names = new Set([...recorded, ...live].map(({ integration }) => integration));
  return [...names].sort().map((name) => {
    const onRecord = recorded.find(({ integration }) => integration === name);
    const known = live.filter(({ integration }) => integration === name).map(({ each }) => each);
    const circuit = severity.find((each) => known.some((one) => one.circuit === each));
    const base = onRecord ?? { integration: name, failures10m: 0, failures24h: 0, circuit: 'closed' as const };
    return { ...base, circuit: circuit ?? base.circuit, live: known };
  });
}
