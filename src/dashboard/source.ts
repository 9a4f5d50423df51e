import type { EventChain } from './eventChain.ts';
import type { EventPage, EventSearch } from './eventPages.ts';
import type { OrderName, RuntimeTree, SessionDetail, Snapshot } from './snapshot.ts';

/** What an operator orders. */
export interface Order {
  readonly order: OrderName;
  /** Of an integration or a session. */
  readonly name: string;
  /** Why, in the words of who orders. */
  readonly why?: string | undefined;
  /** Who orders. */
  readonly by: string;
}

/** What became of an order. */
export interface OrderResult {
  readonly ok: boolean;
  /** One sentence. */
  readonly text: string;
}

/** What the dashboard shows and does, whatever it looks at. All of it rejects, with an error for people, where nothing can be read. */
export interface DashboardSource {
  /** @param spanMs - how far the figures look back, in ms. */
  snapshot(spanMs: number): Promise<Snapshot>;
  /** Undefined for a session that nobody knows. */
  session(id: string): Promise<SessionDetail | undefined>;
  /** @throws TypeError or RangeError for a wrong query. */
  events(search: EventSearch): Promise<EventPage>;
  /** What led to an event and what followed; undefined for an event that nobody knows. */
  chain(event: number): Promise<EventChain | undefined>;
  trees(): Promise<readonly RuntimeTree[]>;
  /** Never rejects: what could not be done is said. */
  order(order: Order): Promise<OrderResult>;
}
