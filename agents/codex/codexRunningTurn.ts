import type { ReaderQueue } from '../../src/telemetry/face.ts';
import type { Clock, Timer } from '../../src/policy/face.ts';
import type { FailureFacts } from '../../src/policy/failures/face.ts';
import { answer } from '../../src/protocol/face.ts';
import { createItemReplay, type ItemEvent } from './protocol/itemReplay.ts';
import { type CodexItem, isToolCall, mayAct } from './protocol/items.ts';
import { type CodexNotice, type CodexTokens, type CodexTurnError, isProgress } from './protocol/notifications.ts';
import type { CodexTurnEvent } from './codexTypes.ts';

/** End of a turn for the connection: with Codex's word, without one though its thread is idle, or with the connection. */
export type TurnEnd =
  | { readonly how: 'told'; readonly status: string; readonly error: CodexTurnError | undefined }
  | { readonly how: 'silent' }
  | { readonly how: 'lost'; readonly facts: FailureFacts };

/** Options for the telling of a turn, and for its signs of progress. */
interface RunningTurnOptions {
  readonly clock: Clock;
  readonly stream: ReaderQueue<CodexTurnEvent>;
  /** A sign of progress. */
  readonly touch: () => void;
  /** The limit that `touch` keeps off, in ms. */
  readonly idleMs: number;
}

/** An idle thread whose turn was not said to have ended: how long that may still come, in ms. */
const lastWordMs = 5000;

/** Turn on one connection, as its notifications tell it. The memory of it is bounded. */
export class RunningTurn {
  readonly ended: Promise<TurnEnd>;
  /** Resolves with Codex's name for the turn; never, if it gets none. */
  readonly named: Promise<string>;
  id: string | undefined = undefined;
  text = '';
  items = 0;
  toolCalls = 0;
  retries = 0;
  tokens: CodexTokens | undefined = undefined;
  /** Ends the call that it belongs to. */
  cancel: (reason: unknown) => void = () => undefined;
  /** Of the call that it belongs to. */
  signal: AbortSignal | undefined = undefined;
  /** Why Codex tried again last. */
  lastRetry: string | undefined = undefined;
  readonly #options: RunningTurnOptions;
  readonly #replay = createItemReplay();
  /** Steps that run and may have changed something by now. */
  readonly #acting = new Set<string>();
  #acted = false;
  #lastError: CodexTurnError | undefined = undefined;
  #over = false;
  #holds = 0;
  #holdTimer: Timer | undefined = undefined;
  #idleTimer: Timer | undefined = undefined;
  #end: (end: TurnEnd) => void = () => undefined;
  #name: (id: string) => void = () => undefined;

  constructor(options: RunningTurnOptions) {
    this.#options = options;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    this.named = new Promise((resolve) => {
      this.#name = resolve;
    });
  }

  get over(): boolean {
    return this.#over;
  }

  get effects(): 'none' | 'possible' {
    return this.#acted || this.#acting.size > 0 ? 'possible' : 'none';
  }

  /** Codex has named the turn, in its answer or in a notification, whichever comes first. */
  nameIt(id: string): void {
    if (this.id !== undefined || this.#over) return;
    this.id = id;
    this.tell({ type: 'turn.started', turn: id });
    this.#name(id);
  }

  tell(event: CodexTurnEvent, size?: number): void {
    this.#options.stream.push(event, size);
  }

  /** Keeps the limit on silence off while something with a limit of its own is waited for. @returns how to let it hold again. */
  hold(): () => void {
    let held = !this.#over;
    if (held && ++this.#holds === 1) this.#keepOff();
    return () => {
      if (!held) return;
      held = false;
      this.#options.touch();
      if (--this.#holds === 0) this.#options.clock.clearTimeout(this.#holdTimer);
    };
  }

  /** Takes one notification of its thread. */
  take(method: string, notice: CodexNotice, params: Readonly<Record<string, unknown>>, bytes: number): void {
    if (this.#over) return;
    if (notice.kind === 'turnStarted' && notice.turn !== undefined) this.nameIt(notice.turn);
    if (notice.turn !== undefined && notice.turn !== this.id) return;
    const progress = isProgress(method) && !saysNothing(notice);
    if (progress) this.#options.touch();
    // A thread that is active again was idle after the turn before.
    if (progress || method === 'thread/status/changed') this.#options.clock.clearTimeout(this.#idleTimer);
    switch (notice.kind) {
      case 'turnStarted':
      case 'requestResolved':
      case 'malformed':
        return;
      case 'turnCompleted':
        this.finish({ how: 'told', status: notice.status, error: notice.error ?? this.#lastError });
        return;
      case 'itemStarted':
      case 'itemCompleted': {
        const type = notice.kind === 'itemStarted' ? 'started' : 'completed';
        this.#noteEffects(type, notice.item);
        this.#pass({ type, item: notice.item }, bytes, 'text.delta');
        return;
      }
      case 'text':
        this.#pass({ type: 'delta', item: notice.item, text: notice.text }, bytes, 'text.delta');
        return;
      case 'reasoning':
        this.#pass({ type: 'delta', item: notice.item, text: notice.text }, bytes, 'reasoning.delta');
        return;
      case 'output':
        this.tell({ type: 'output.delta', item: notice.item, text: notice.text }, bytes);
        return;
      case 'tokens':
        this.#replay.answered();
        this.tokens = notice.total;
        this.tell({ type: 'tokens', total: notice.total, last: notice.last });
        return;
      case 'error':
        this.#noteError(notice.error, notice.willRetry);
        return;
      case 'threadIdle':
        this.#awaitLastWord();
        return;
      case 'other':
        this.tell({ type: 'notice', method, params }, bytes);
    }
  }

  /** The first end stays. Nothing is told or timed any more. */
  finish(end: TurnEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.clock.clearTimeout(this.#idleTimer);
    this.#options.clock.clearTimeout(this.#holdTimer);
    this.#end(end);
  }

  #pass(event: ItemEvent, bytes: number, delta: 'text.delta' | 'reasoning.delta'): void {
    for (const each of this.#replay.pass(event)) {
      if (each.type === 'delta') {
        this.tell({ type: delta, item: each.item, text: each.text }, bytes);
        continue;
      }
      const { item } = each;
      this.tell({ type: each.type === 'started' ? 'item.started' : 'item.completed', item }, bytes);
      if (each.type === 'completed') {
        this.items++;
        if (isToolCall(item)) this.toolCalls++;
        if (item.type === 'agentMessage' && item.text !== undefined) this.text = answer(item.text);
      }
    }
  }

  #noteEffects(type: 'started' | 'completed', item: CodexItem): void {
    if (type === 'started') {
      if (mayAct(item)) this.#acting.add(item.id);
      return;
    }
    this.#acting.delete(item.id);
    if (mayAct(item)) this.#acted = true;
  }

  #noteError(error: CodexTurnError, willRetry: boolean): void {
    const { message, details: detail } = error;
    if (!willRetry) {
      this.#lastError = error;
      this.tell({ type: 'notice', method: 'error', params: { message, detail } });
      return;
    }
    this.retries++;
    this.lastRetry = detail === undefined ? message : `${message} (${detail})`;
    this.#replay.retrying();
    this.tell({ type: 'retrying', message, detail });
  }

  #awaitLastWord(): void {
    if (this.id === undefined) return;
    const { clock } = this.#options;
    clock.clearTimeout(this.#idleTimer);
    const silent = (): void => this.finish({ how: 'silent' });
    this.#idleTimer = clock.setTimeout(() => clock.nextTurn(silent), lastWordMs, { running: true });
  }

  #keepOff(): void {
    const { clock, touch, idleMs } = this.#options;
    touch();
    if (Number.isFinite(idleMs)) this.#holdTimer = clock.setTimeout(() => this.#keepOff(), idleMs / 2);
  }
}

/** A piece of an answer or of output that is empty: a stalled server may send it for ever. */
function saysNothing(notice: CodexNotice): boolean {
  return (notice.kind === 'text' || notice.kind === 'reasoning' || notice.kind === 'output') && notice.text === '';
}
