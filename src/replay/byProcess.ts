import { type Incident, type IncidentEvent, type IncidentIntegration, labelOf } from '../incident/incident.ts';
import type { FlightRow } from '../policy/flight.ts';

/**
 * Gives integrations of other processes names of their own, so that each is played beside that of the incident's process. Turns are played
 * of that process alone: a session has one process at a time, and a turn that was cut has no end.
 */
export function byProcess(incident: Incident): Incident {
  const { events, pid } = incident;
  const labels = new Map(incident.integrations.map((each) => [`${each.name} ${each.pid ?? pid}`, labelOf(each)]));
  const integrations = incident.integrations.map((each) => (each.pid === undefined ? each : elsewhere(each)));
  const told = events.flatMap((event): IncidentEvent[] => {
    const { integration, runtime_pid: by } = event.metadata;
    if (typeof by !== 'number' || by === pid) return [event];
    if (event.category === 'session' || event.category === 'operator' || event.category === 'runtime') return [];
    if (typeof integration !== 'string') return [event];
    const label = labels.get(`${integration} ${by}`);
    return label === undefined ? [] : [{ ...event, metadata: { ...event.metadata, integration: label } }];
  });
  return { ...incident, integrations, events: told };
}

function elsewhere(integration: IncidentIntegration): IncidentIntegration {
  const records = integration.records.map((record) => ({ ...record, rows: record.rows.map(withoutSession) }));
  return { ...integration, name: labelOf(integration), records };
}

/** Its calls come when they came, whatever turn they were of. */
function withoutSession(row: FlightRow): FlightRow {
  return 'session' in row ? { ...row, session: undefined } : row;
}
