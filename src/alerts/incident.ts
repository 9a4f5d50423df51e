import type { AlertCount } from '../policy/facts/alertFacts.ts';
import type { OpenAlert } from '../policy/records/alertRecord.ts';
import { lastMet } from '../policy/records/lastMet.ts';
import type { Bus } from '../telemetry/bus.ts';

/** Event that counts towards an alert. */
export interface Incident extends Pick<OpenAlert, 'integration' | 'kind' | 'message'> {
  readonly cause: AlertCount;
}

/** A final failure, or a crash, that was on record before the watch began. `at` is wall time in ms since the epoch. */
export interface EarlierIncident extends Pick<Incident, 'integration' | 'kind' | 'cause'> {
  readonly at: number;
}

/**
 * Hears the incidents of a runtime.
 * @param closed - told when the breaker of an integration has closed.
 * @returns how to hear no more.
 */
export function onIncident(
  bus: Pick<Bus, 'on'>,
  met: (incident: Incident) => void,
  closed: (integration: string) => void,
): () => void {
  const crashed = ({ integration, message }: { readonly integration: string; readonly message: string }): void =>
    met({ cause: 'crashes', integration, kind: 'crash', message });
  const removers = [
    bus.on('call.failed', ({ integration, integrationType, failure }) => {
      // Its hook tells of it, and of what its call took for an answer. What our own stall may have caused is nobody's failure.
      const { kind, message, code, alerts } = lastMet(failure);
      if (alerts === false || integration.startsWith('hook:')) return;
      // The last output of a command may say nothing.
      const isUntold = typeof code === 'number' && !message.includes(`exit code ${code}`);
      const exit = integrationType === 'subprocess' && isUntold ? ` (exit code ${code})` : '';
      met({ cause: 'failures', integration, kind, message: `${message}${exit}` });
    }),
    bus.on('hook.failed', ({ hook, kind = 'unknown', error }) =>
      met({ cause: 'failures', integration: `hook:${hook}`, kind, message: error }),
    ),
    // A session ends its turn by it; what ends a run or a prompt is a call that failed.
    bus.on('session.spinning', ({ turn, step, integration, message }) => {
      if (step !== 'end' || turn === undefined || integration === undefined) return;
      met({ cause: 'failures', integration, kind: 'spinning', message });
    }),
    bus.on('integration.crashed', crashed),
    bus.on('integration.restart_failed', crashed),
    bus.on('breaker.closed', ({ integration, tool }) => {
      // That of one tool says nothing of the others.
      if (tool === undefined) closed(integration);
    }),
  ];
  return () => {
    for (const remove of removers) remove();
  };
}
