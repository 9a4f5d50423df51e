import type { AlertCount, AlertEnd } from '../../policy/facts/alertFacts.ts';
import type { AlertCounts, AlertRecords, AlertWords, Cleared, OpenAlert } from '../../policy/records/alertRecord.ts';
import type { Fact, Told } from '../../policy/facts/facts.ts';

/** Open alerts in memory. */
export class MemoryAlerts implements AlertRecords {
  /** By integration. */
  readonly #open = new Map<string, OpenAlert>();
  readonly #record: (fact: Told<Fact>) => void;

  constructor(record: (fact: Told<Fact>) => void) {
    this.#record = record;
  }

  async open(): Promise<readonly OpenAlert[]> {
    return [...this.#open.values()];
  }

  async raise(alert: OpenAlert, fact?: Fact): Promise<OpenAlert> {
    const { integration, raisedAt } = alert;
    const open = this.#open.get(integration);
    if (open !== undefined) return open;
    this.#open.set(integration, alert);
    if (fact !== undefined) this.#record({ ...fact, at: raisedAt });
    return alert;
  }

  async extend(integration: string, cause: AlertCount, wallNow: number, said: AlertWords): Promise<boolean> {
    const open = this.#open.get(integration);
    if (open === undefined) return false;
    const lastFailureAt = Math.max(open.lastFailureAt, wallNow);
    const words = open.because === cause && open.lastFailureAt <= wallNow ? said : {};
    this.#open.set(integration, { ...open, ...words, [cause]: open[cause] + 1, lastFailureAt });
    return true;
  }

  async clear(
    id: string,
    _by: AlertEnd,
    wallNow: number,
    quietSince: number,
    fact?: (counts: AlertCounts) => Fact,
  ): Promise<Cleared> {
    const open = [...this.#open.values()].find((alert) => alert.id === id);
    if (open === undefined) return { is: 'gone' };
    const { integration, failures, crashes, lastFailureAt } = open;
    // A failure that is later than now is one of a wall clock that has stepped back since.
    if (lastFailureAt > quietSince && lastFailureAt <= wallNow) return { is: 'failing', lastFailureAt };
    this.#open.delete(integration);
    if (fact !== undefined) this.#record({ ...fact({ failures, crashes }), at: wallNow });
    return { is: 'cleared', failures, crashes };
  }
}
