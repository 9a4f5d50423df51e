import {
  type LiveStatus,
  type WatchedAlert,
  readAlertsAnswer,
  readFlightAnswer,
  readStatusAnswer,
  readTreeAnswer,
  readWhyAnswer,
} from '../../src/control/face.ts';
import type { Incident } from '../../incident/incident.ts';
import type { CallFiguresRow, MetricFamily, PersonAnswer, Question } from '../../src/policy/records/face.ts';
import type { Clock, OrderResult } from '../../src/policy/face.ts';
import type { Order } from '../../operator/order.ts';
import { type AskedRuntime, askRuntimes, askSessions, pidsOfAnswers } from '../../operator/askRuntimes.ts';
import { circuitsOf, deadRuntimes, hurtSessions, type HurtSessions, isShut } from '../../operator/needs.ts';
import { runtimesOf } from '../../operator/unlisted.ts';
import { viewOf } from '../../operator/integrationView.ts';
import { watchedAlerts, withNotes } from '../../operator/alertNotes.ts';
import { databaseMetrics } from '../../operator/databaseMetrics.ts';
import { giveOrder } from '../../operator/giveOrder.ts';
import type { SessionWhy } from '../../src/sessions/face.ts';
import type { ClusterView, DeadLetterRecord, StoreReader } from '../../reader/storeReader.ts';
import { assemble, runtimeLine } from './assemble.ts';
import { chainOf, type EventChain, type EventPage, type EventSearch, findEvents } from './eventPages.ts';
import type { Look, RuntimeTree, SessionDetail } from './snapshot.ts';
import { Frozen, noPending, pendingRecords } from './frozen.ts';
import { NameBook } from './nameBook.ts';
import { SteadyTimes } from './steadyTimes.ts';
import { turnLines } from './turnLines.ts';
import { lateModule } from '../../src/actors/process/face.ts';

const gatherModule = lateModule(() => import('../../incident/gather.ts'));

interface DatabaseSourceOptions {
  readonly clock: Clock;
  /** Reads from the database, which is opened for it. */
  readonly read: <T>(work: (reader: StoreReader) => Promise<T>) => Promise<T>;
}

/** Figures reach the database every 10 s: to look more often shows nothing new. */
const figuresEveryMs = 10_000;

/** Time in ms between looks for the sessions that open circuits hurt. */
const hurtEveryMs = 3000;

const noneWatched: ReadonlyMap<string, WatchedAlert> = new Map();

/** Turns of a session that are told, events of it that are read for them, and those that are looked at. */
const mostTurns = 20;
const mostTold = 300;
const mostLooked = 100_000;

/**
 * Every live gateway of a database, through their control sockets, and what the database says without them: the source of all that the
 * dashboard shows and does. All of it rejects, with an error for people, where nothing can be read.
 */
export class DatabaseSource {
  readonly #clock: Clock;
  readonly #read: DatabaseSourceOptions['read'];
  readonly #times = new SteadyTimes();
  readonly #names = new NameBook();
  readonly #frozen = new Frozen();
  #hurt: { readonly at: number; readonly of: string; readonly hurt: HurtSessions } = { at: 0, of: '', hurt: new Map() };
  readonly #figures = new Map<number, { readonly at: number; readonly rows: readonly CallFiguresRow[] }>();

  constructor({ clock, read }: DatabaseSourceOptions) {
    this.#clock = clock;
    this.#read = read;
  }

  /** @param spanMs - how far the figures look back, in ms. */
  async snapshot(spanMs: number): Promise<Look> {
    const at = Math.round(this.#clock.wallNow());
    const kept = this.#figures.get(spanMs);
    const isFresh = kept !== undefined && Math.abs(at - kept.at) < figuresEveryMs;
    const found = await this.#read(async (reader) => ({
      database: reader.path,
      rows: await runtimesOf(reader, this.#clock.wallNow()),
      status: await reader.status(at),
      alerts: await withNotes(reader, await reader.alerts(at), at, this.#names.show),
      letters: await reader.deadLetters(),
      questions: (await reader.questions()).filter(({ deadlineAt }) => deadlineAt > at),
      figures: isFresh ? kept : { at, rows: await reader.statistics(at - spanMs) },
    }));
    this.#figures.set(spanMs, found.figures);
    const asked = await this.#ask(found.rows, 'status', readStatusAnswer);
    const frozenSince = this.#frozen.since(asked, at);
    const answering = found.rows.filter(({ id }) => !frozenSince.has(id));
    const [trees, whys, watched, pending] = await Promise.all([
      this.#ask(answering, 'tree', readTreeAnswer),
      this.#askSessions(asked),
      found.alerts.open.length === 0 ? noneWatched : this.#askAlerts(answering),
      frozenSince.size === 0 && deadRuntimes(asked).length === 0
        ? noPending
        : this.#read((reader) => pendingRecords(reader, asked)),
    ]);
    const hurt = await this.#hurtBy(circuitsOf(viewOf(found.status.integrations, asked), at), whys, at);
    const { rows, at: figuresAt } = found.figures;
    return assemble({
      ...{ ...found, letters: this.#names.in(found.letters), figures: rows, figuresAt },
      questions: this.#names.in(found.questions),
      ...{ at, spanMs, asked, trees, whys: this.#names.in(whys), watched, frozenSince, pending, hurt },
      ...{ times: this.#times, shown: this.#names.show, recorded: (shown) => this.#names.recorded(shown) },
    });
  }

  /** Undefined for a session that nobody knows. */
  async session(shownId: string): Promise<SessionDetail | undefined> {
    const id = await this.#real(shownId);
    const { rows, records, kept, told } = await this.#read(async (reader) => ({
      rows: await runtimesOf(reader, this.#clock.wallNow()),
      records: await reader.session(id),
      kept: await reader.turns(id, mostTurns),
      told: await reader.events({
        session: this.#names.recorded(shownId),
        category: 'session',
        limit: mostTold,
        among: mostLooked,
      }),
    }));
    const asked = await this.#ask(rows, 'why', readWhyAnswer, { session: id });
    const why = asked.find(({ answer }) => answer !== undefined && !answer.heldElsewhere)?.answer;
    const turns = turnLines(kept, told, mostTurns);
    if (why === undefined && records === undefined && turns.length === 0) return undefined;
    return this.#names.in({ session: id, at: Math.round(this.#clock.wallNow()), why, records, turns });
  }

  /** @throws TypeError or RangeError for a wrong query. */
  async events({ integration, session, ...search }: EventSearch): Promise<EventPage> {
    for (const name of [integration, session]) if (name !== undefined) await this.#real(name);
    const named = {
      ...(integration !== undefined && { integration: this.#names.recorded(integration) }),
      ...(session !== undefined && { session: this.#names.recorded(session) }),
    };
    return this.#read((reader) => findEvents(reader, { ...search, ...named }));
  }

  /** Finds the events that led to one and that followed; undefined for an event that nobody knows. */
  chain(event: number): Promise<EventChain | undefined> {
    return this.#read((reader) => chainOf(reader, event));
  }

  /** The gateways that share the database; undefined where it is the file of one machine. */
  async cluster(): Promise<ClusterView | undefined> {
    return this.#names.in(await this.#read((reader) => reader.cluster()));
  }

  async trees(): Promise<readonly RuntimeTree[]> {
    const rows = await this.#read((reader) => runtimesOf(reader, this.#clock.wallNow()));
    const asked = await this.#ask(rows, 'tree', readTreeAnswer);
    const at = Math.round(this.#clock.wallNow());
    return asked
      .filter(({ runtime }) => runtime.liveness !== 'dead')
      .map((each) => ({
        ...{ runtime: runtimeLine(each, this.#names.show), at },
        tree: each.answer && this.#names.tree(each.answer),
      }));
  }

  async metrics(): Promise<readonly MetricFamily[]> {
    return (await databaseMetrics(this.#read, () => this.#clock.wallNow())).families;
  }

  /** Dead letters of a session or of all, the newest first, at most 500. */
  async letters(session?: string): Promise<readonly DeadLetterRecord[]> {
    const id = session === undefined ? undefined : await this.#real(session);
    return this.#names.in(await this.#read((reader) => reader.deadLetters(id)));
  }

  /**
   * Finds the events around a session, a call or an integration; live gateways write what their recorders hold before.
   * @throws RangeError where nothing of this id is on record.
   */
  async incident(shownId: string): Promise<Incident> {
    const id = await this.#real(shownId);
    const rows = await this.#read((reader) => runtimesOf(reader, this.#clock.wallNow()));
    const asked = pidsOfAnswers(await this.#ask(rows, 'flight', readFlightAnswer, { session: id }));
    // Loaded now: few ever need it.
    const { gatherIncident } = await gatherModule();
    return this.#read((reader) => gatherIncident(reader, id, { now: this.#clock.wallNow(), asked }));
  }

  /** See {@link StoreReader.questionOfLink}. */
  questionOfLink(id: string, signed: string): Promise<Question | undefined> {
    return this.#read((reader) => reader.questionOfLink(id, signed));
  }

  /** Answers a question of the inbox. */
  answer(question: string, answer: PersonAnswer): Promise<OrderResult> {
    return this.#read((reader) => reader.answerQuestion(question, answer, Math.round(this.#clock.wallNow())));
  }

  /** Never rejects: what could not be done is said. */
  async order(order: Order): Promise<OrderResult> {
    const name = await this.#real(order.name);
    const target = order.target === undefined ? {} : { target: await this.#real(order.target) };
    const { ok, text } = await giveOrder({ ...order, name, ...target }, { clock: this.#clock, read: this.#read });
    return { ok, text: this.#names.clean(text) };
  }

  /** Returns the real name that a page means. A name that was shown before this dashboard began is looked for first. */
  async #real(shown: string): Promise<string> {
    if (this.#names.isUnknown(shown)) await this.snapshot(figuresEveryMs).catch(() => undefined);
    return this.#names.real(shown);
  }

  #ask<T>(
    rows: Parameters<typeof askRuntimes>[0],
    method: string,
    read: (value: unknown) => T | undefined,
    params?: unknown,
  ): Promise<readonly AskedRuntime<T>[]> {
    return askRuntimes(rows, { now: () => this.#clock.wallNow() }, method, read, params);
  }

  /** The alerts that live gateways watch, by integration. */
  async #askAlerts(rows: Parameters<typeof askRuntimes>[0]): Promise<ReadonlyMap<string, WatchedAlert>> {
    return watchedAlerts(await this.#ask(rows, 'alerts', readAlertsAnswer));
  }

  /** The sessions that open circuits hurt; looked up at most every few seconds. */
  async #hurtBy(
    circuits: ReturnType<typeof circuitsOf>,
    whys: readonly SessionWhy[],
    at: number,
  ): Promise<HurtSessions> {
    const shut = this.#names.in(circuits.filter((each) => isShut(each) && each.tool === undefined));
    if (shut.length === 0) return new Map();
    const of = shut.map(({ integration }) => integration).join('\n');
    const kept = this.#hurt;
    if (kept.of === of && Math.abs(at - kept.at) < hurtEveryMs) return kept.hurt;
    const hurt = await this.#read((reader) =>
      hurtSessions(reader, shut, this.#names.in(whys), at, (name) => this.#names.recorded(name)),
    );
    this.#hurt = { at, of, hurt };
    return hurt;
  }

  /** Asks for the waits of the sessions that do something now. */
  async #askSessions(asked: readonly AskedRuntime<LiveStatus>[]): Promise<readonly SessionWhy[]> {
    return (await askSessions(asked)).flatMap(({ why }) => why ?? []);
  }
}
