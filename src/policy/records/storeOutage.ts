/** A time in which a store is out of order, as of now: what is written waits in memory. */
export interface StoreOutage {
  readonly reason: string;
  /** Line that names what to do. */
  readonly fix: string;
  /** For how long, in ms. */
  readonly forMs: number;
  /** Rows that wait in memory, and end with the process. */
  readonly waiting: number;
  /** Rows that were refused: more wait than may. */
  readonly dropped: number;
}
