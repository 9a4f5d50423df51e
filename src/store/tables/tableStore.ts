import type { Fact, Told } from '../../policy/facts/facts.ts';
import type { StoreOutage } from '../../policy/records/storeOutage.ts';
import type { EventQuery, EventRow } from '../events.ts';
import type { Store } from '../store.ts';
import type { Tables } from '../work.ts';
import { Alerts } from './alerts.ts';
import { type ChildMark, Children } from './children.ts';
import { Flights } from './flights.ts';
import type { QuestionRecords } from '../../policy/records/question.ts';
import { questionRows } from './questions.ts';
import { type ScopedTexts, scopedTexts } from './scopedTexts.ts';
import { Statistics } from './statistics.ts';

/** The log of a store's events. */
interface StoreLog extends Pick<Store, 'read'> {
  /** The store's own, as it is. */
  readonly record: (fact: Told<Fact>) => boolean;
}

/** The parts of a store that are tables, in a file or on a server. */
export abstract class TableStore {
  readonly persistent = true;
  readonly path: string;
  readonly statistics: Statistics;
  readonly flights: Flights;
  readonly spinning: ScopedTexts;
  readonly definitions: ScopedTexts;
  readonly questions: QuestionRecords;
  readonly children: Children;
  readonly alerts: Alerts;
  readonly record: StoreLog['record'];
  readonly #queue: Pick<Store, 'degraded' | 'outage' | 'flush'>;
  readonly #log: StoreLog;

  /** @param path - as the store shows it. @param queue - of what is written. */
  constructor(
    path: string,
    queue: Pick<Store, 'degraded' | 'outage' | 'flush'>,
    log: StoreLog,
    tables: Tables,
    mark?: ChildMark,
  ) {
    this.path = path;
    this.#queue = queue;
    this.#log = log;
    this.record = log.record;
    this.statistics = new Statistics(tables);
    this.flights = new Flights(tables);
    this.spinning = scopedTexts(tables, 'spinning');
    this.definitions = scopedTexts(tables, 'definition');
    this.questions = questionRows(tables);
    this.children = new Children(tables, mark);
    this.alerts = new Alerts(tables);
  }

  get degraded(): boolean {
    return this.#queue.degraded;
  }

  get outage(): StoreOutage | undefined {
    return this.#queue.outage;
  }

  read(query: EventQuery): Promise<readonly EventRow[]> {
    return this.#log.read(query);
  }

  flush(): Promise<boolean> {
    return this.#queue.flush();
  }
}
