import type { Incident } from '../../incident/incident.ts';
import type { MetricFamily } from '../../src/policy/metrics.ts';
import type { EventChain } from './eventChain.ts';
import type { EventPage, EventSearch } from './eventPages.ts';
import type { Order, OrderResult } from '../../src/policy/operatorOrder.ts';
import type { ClusterView, DeadLetterRecord } from '../../src/store/storeReader.ts';
import type { RuntimeTree, SessionDetail, Snapshot } from './snapshot.ts';

/** Findings about gateways at one look; the dashboard's own work comes to it. */
export type Look = Omit<Snapshot, 'bulks'>;

/** Source of all that the dashboard shows and does, whatever it looks at. All of it rejects, with an error for people, where nothing can be read. */
export interface DashboardSource {
  /** @param spanMs - how far the figures look back, in ms. */
  snapshot(spanMs: number): Promise<Look>;
  /** Undefined for a session that nobody knows. */
  session(id: string): Promise<SessionDetail | undefined>;
  /** @throws TypeError or RangeError for a wrong query. */
  events(search: EventSearch): Promise<EventPage>;
  /** Finds the events that led to one and that followed; undefined for an event that nobody knows. */
  chain(event: number): Promise<EventChain | undefined>;
  trees(): Promise<readonly RuntimeTree[]>;
  /** The gateways that share the database; undefined where it is the file of one machine. */
  cluster(): Promise<ClusterView | undefined>;
  /** Without secrets. */
  metrics(): Promise<readonly MetricFamily[]>;
  /** Dead letters of a session or of all, the newest first, at most 500. */
  letters(session?: string): Promise<readonly DeadLetterRecord[]>;
  /**
   * Finds the events around a session, a call or an integration; live gateways write what their recorders hold before.
   * @throws RangeError where nothing of this id is on record.
   */
  incident(id: string): Promise<Incident>;
  /** Never rejects: what could not be done is said. */
  order(order: Order): Promise<OrderResult>;
}
