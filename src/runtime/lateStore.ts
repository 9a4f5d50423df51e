import type { ChildRegistry } from '../actors/process/childRegistry.ts';
import type { reapOrphans } from '../actors/process/orphans.ts';
import type { BudgetParts } from '../calls/rates/budgetAccount.ts';
import type { Fact, Told } from '../policy/facts/facts.ts';
import type { StoreOptions } from '../store/openStore.ts';
import type { Logger } from '../policy/text/logger.ts';
import type { Store } from '../store/store.ts';
import type { Bus } from '../telemetry/bus.ts';
import type { CheckedGatewayOptions } from './runtimeOptions.ts';
import { lateModule } from '../actors/process/lateModule.ts';

const storeModule = lateModule(() => import('../store/openStore.ts'));
const sweepModule = lateModule(() => import('../actors/prompt/promptFile.ts'));
const orphansModule = lateModule(() => import('../actors/process/orphans.ts'));

/** Options of the store of a runtime, beyond what a gateway can say. */
export interface StoreTuning extends Pick<StoreOptions, 'lockWaitMs' | 'retention'>, Pick<BudgetParts, 'are'> {
  /** Decides which of the facts that stores keep are worth a record. @defaultValue all */
  readonly records?: ((fact: Told<Fact>) => boolean) | undefined;
  /** Receives what is wrong with it. @defaultValue the logger of its runtime */
  readonly logger?: Logger | undefined;
}

/** Facts that wait for a store that is opened later; what is told beyond is not recorded. */
const maxEarlyFacts = 1000;

/** The store of a runtime, which may be opened long after the runtime has started, and what an open one is used for. */
export class LateStore {
  readonly #options: CheckedGatewayOptions;
  readonly #tuning: StoreTuning;
  readonly #bus: Bus;
  readonly #children: ChildRegistry;
  readonly #takeOffDied: () => Promise<void>;
  readonly #early: Told<Fact>[] = [];
  #opening: Promise<void> | undefined = undefined;
  #store: Store | undefined = undefined;
  #reaping: Promise<void> | undefined = undefined;
  /** There once a store is open that keeps children. */
  #reapChildren: typeof reapOrphans | undefined = undefined;
  #stopSweeping: (() => void) | undefined = undefined;
  #isEnding = false;
  #isClosed = false;

  /** @param takeOffDied - has the runtimes taken off that are entered and have died. Must not reject. */
  constructor(
    options: CheckedGatewayOptions,
    tuning: StoreTuning,
    bus: Bus,
    children: ChildRegistry,
    takeOffDied: () => Promise<void>,
  ) {
    this.#takeOffDied = takeOffDied;
    this.#options = options;
    this.#tuning = tuning;
    this.#bus = bus;
    this.#children = children;
  }

  get current(): Store | undefined {
    return this.#store;
  }

  /** Keeps what is told until the store is opened. */
  keepEarly(): void {
    this.#bus.on('*', this.#keep);
  }

  /**
   * Opens the store; later calls join the first.
   * @throws StoreUnavailableError when a store that is required cannot be had; it may be tried again then.
   */
  open(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    this.#opening ??= this.#openFirst().catch((error: unknown) => {
      // An error that can be mended lets it be tried again.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Ends the children of runtimes that have died, and records their end. It goes on behind; nothing that starts meanwhile is taken for one of them. */
  reap(): void {
    const store = this.#store;
    if (store === undefined || this.#reapChildren === undefined || this.#isEnding) return;
    const records = store.children;
    const { clock, logger } = this.#options;
    const more = this.#reapChildren({ records, clock, facts: this.#bus, logger });
    this.#reaping = Promise.all([this.#reaping, more, this.#takeOffDied()]).then(() => undefined);
  }

  /** The runtime stops: nothing new is begun with the store, which still takes records. */
  end(): void {
    this.#isEnding = true;
    this.#stopSweeping?.();
  }

  /** Opens a store that is not open yet for what was told before. Never rejects. */
  async keepRest(): Promise<void> {
    if (this.#early.length > 0) await this.open().catch(noop);
  }

  /** Resolves when no child of a dead runtime is being ended any more. */
  async reaped(): Promise<void> {
    await this.#reaping;
  }

  /** Never rejects. */
  async close(): Promise<void> {
    await this.#opening?.catch(noop);
    this.#isClosed = true;
    await this.#store?.close();
  }

  readonly #keep = (fact: Told<Fact>): void => {
    if (this.#early.length < maxEarlyFacts && this.#tuning.records?.(fact) !== false) this.#early.push(fact);
  };

  /** Also while the runtime stops: what was told before is to be recorded. */
  async #openFirst(): Promise<void> {
    // Imported now: a short-lived process that has nothing to keep is spared the loading.
    const { openStore, storedTypes } = await storeModule();
    const { sweepPrompts } = await sweepModule();
    const { reapOrphans } = await orphansModule();
    const { store: path, storeRequired: required, clock, random, synchronous, secrets, redact } = this.#options;
    const { lockWaitMs, retention, records, logger = this.#options.logger } = this.#tuning;
    const bus = this.#bus;
    const about = { clock, random, logger, synchronous, lockWaitMs, retention, secrets };
    const opened = await openStore({ path, required, facts: bus, runtimePid: process.pid, ...about });
    this.#store = opened;
    bus.off('*', this.#keep);
    // Masked as they were told: more secrets may be known by now, and callers may have changed what they gave.
    for (const fact of this.#early.splice(0)) opened.record(redact(fact));
    for (const type of storedTypes) {
      bus.on(type, (fact) => {
        if (records?.(fact) !== false && !bus.isRecorded(fact)) opened.record(fact);
      });
    }
    if (this.#isEnding) return;
    if (opened.persistent) {
      this.#reapChildren = reapOrphans;
      this.reap();
      this.#children.keepIn(opened.children);
    }
    this.#stopSweeping ??= sweepPrompts(clock);
  }
}

function noop(): void {}
