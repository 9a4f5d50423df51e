import { costsSaidBy } from '../../calls/integrationRates.ts';
import { AttemptError } from '../../policy/failure.ts';
import type { Costs } from '../../policy/rateLimit.ts';
import type { FactRedactor } from '../../redaction/redactFact.ts';
import type { Decoder, Give } from '../../streams/decodedStream.ts';
import { type ServerSentEvent, ServerSentEventParser } from '../../streams/serverSentEvents.ts';
import type { EventRules } from '../../streams/eventRules.ts';

/** Options for reading the events of one stream. */
interface EventDecoderOptions {
  readonly rules: EventRules;
  /** Longest data of one event, in bytes. */
  readonly maxBytes: number;
  /** True where the data of each event is what its JSON holds. */
  readonly isJson: boolean;
  /** Takes out of a failure what the server repeats of the request. */
  readonly redact: FactRedactor;
  /** Told what the stream costs, as its events tell. */
  readonly spent: (costs: Costs) => void;
  /** True where it matters which events have content once one had. */
  readonly watchesContent: boolean;
}

/** Data is text, or what its JSON holds. */
type GiveEvent = Give<ServerSentEvent | ServerSentEvent<unknown>>;

/** Makes events of the bytes of a stream, and tells by its rules how that ended. */
export class EventDecoder implements Decoder {
  /** True once the last event was given. */
  isComplete = false;
  readonly #parser: ServerSentEventParser;
  readonly #give: GiveEvent;
  readonly #options: EventDecoderOptions;
  #rules!: EventRules;
  #skipped!: ReadonlySet<string | undefined>;
  #isLast!: (event: ServerSentEvent) => boolean;
  #costs: Costs = {};
  #isFirst = true;
  #hadContent = false;

  constructor(give: GiveEvent, options: EventDecoderOptions) {
    this.#give = give;
    this.#options = options;
    this.#follow(options.rules);
    this.#parser = new ServerSentEventParser({
      maxBytes: options.maxBytes,
      onEvent: (event) => this.#read(event),
    });
  }

  push(chunk: Uint8Array): void {
    this.#parser.push(chunk);
  }

  end(): void {
    this.#parser.end();
    const { endsWith } = this.#rules;
    if (endsWith === undefined || this.isComplete) return;
    const names = typeof endsWith === 'function' ? '' : ` (${endsWith.join(', ')})`;
    const message = `The stream ended without its last event${names}`;
    throw new AttemptError({ kind: 'transient', reason: 'connection_lost', message, outcome: 'unknown' });
  }

  #follow(rules: EventRules): void {
    this.#rules = rules;
    this.#skipped = new Set(rules.signsOfLife);
    this.#isLast = lastEvent(rules.endsWith);
  }

  #read(event: ServerSentEvent): void {
    // Anything after the last event in its chunk is no part of the stream.
    if (this.isComplete) return;
    const known = this.#rules.recognise?.(event);
    if (known !== undefined) this.#follow(known);
    // An answer that fails has its price too.
    if (this.#rules.spent !== undefined) this.#count(event, this.#rules.spent);
    if (this.#skipped.has(event.event)) return;
    const { isJson, redact } = this.#options;
    const failed = this.#rules.failedEvent?.(event, this.#isFirst);
    if (failed instanceof AttemptError) throw new AttemptError(redact(failed.facts));
    if (failed instanceof Error) throw redact({ failed }).failed;
    if (failed !== undefined) throw new AttemptError(redact(failed));
    this.#isFirst = false;
    this.isComplete = this.#isLast(event);
    const isContent = this.#isContent(event);
    if (!isJson) this.#give(event, isContent);
    else this.#giveJson(event, isContent);
  }

  #isContent(event: ServerSentEvent): boolean {
    if (this.#hadContent && !this.#options.watchesContent) return true;
    let isContent = true;
    try {
      isContent = this.#rules.isContent?.(event) !== false;
    } catch {
      // A rule that fails ends no stream as a silent one.
    }
    this.#hadContent ||= isContent;
    return isContent;
  }

  #count(event: ServerSentEvent, spent: NonNullable<EventRules['spent']>): void {
    const costs = costsSaidBy(() => spent(event, this.#costs));
    if (Object.keys(costs).length === 0) return;
    this.#costs = { ...this.#costs, ...costs };
    this.#options.spent(this.#costs);
  }

  #giveJson(event: ServerSentEvent, isContent: boolean): void {
    let data: unknown;
    try {
      data = JSON.parse(event.data);
    } catch {
      // A mark like `[DONE]` says nothing but that it is over.
      if (this.isComplete) return;
      // Errors of JSON.parse quote the data, which is not ours to show.
      const message = `Expected the data of each event to be JSON, got ${event.data.length} characters that are none`;
      throw new AttemptError({ kind: 'protocol', message, outcome: 'unknown' });
    }
    this.#give({ ...event, data }, isContent);
  }
}

function lastEvent(endsWith: EventRules['endsWith']): (event: ServerSentEvent) => boolean {
  if (typeof endsWith === 'function') return endsWith;
  const names = new Set<string | undefined>(endsWith);
  return ({ event, data }) => names.has(event) || names.has(data);
}
