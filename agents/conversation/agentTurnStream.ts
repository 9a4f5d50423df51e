import type { Outcome } from '../../src/policy/failures/face.ts';
import { ChunkRelay, RelayedStream, type Resume } from '../../src/streams/face.ts';
import type { ToldSoFar } from './agentBackend.ts';
import type { AgentStream } from './agentStream.ts';
import type { AgentEvent, AgentResult, AgentTurn, AgentTurnStream } from './agentTypes.ts';

/** A turn that has begun. */
export interface BegunTurn {
  readonly events: AgentStream;
  readonly outcome: Promise<Outcome<AgentResult>>;
  /** Ends it. */
  readonly controller: AbortController;
}

/** Events that say how the turn goes, not what it came to. */
const asides: ReadonlySet<AgentEvent['type']> = new Set(['retrying', 'fell_back', 'notice']);

/** Remembers what a turn told its reader. */
export class ToldEvents implements ToldSoFar {
  readonly resume: Resume<string, AgentEvent> | undefined;
  #last: AgentEvent | undefined = undefined;
  #count = 0;

  constructor(resume: Resume<string, AgentEvent> | undefined) {
    this.resume = resume;
  }

  take(event: AgentEvent): void {
    if (asides.has(event.type)) return;
    this.#last = event;
    this.#count++;
  }

  mayGoOn(): boolean {
    return this.#last === undefined || this.resume !== undefined;
  }

  resumed(prompt: string): string | undefined {
    return this.#last === undefined ? undefined : this.resume?.(this.#last, prompt, this.#count);
  }
}

/** The events of a turn as the chunks of a stream. What waits is read before how it ended; of a turn that was ended nobody wants it. */
export class TurnStream extends RelayedStream<string, AgentEvent> implements AgentTurnStream {
  readonly outcome: Promise<Outcome<AgentResult>>;
  readonly #events: AgentStream;

  constructor({ events, outcome, controller }: BegunTurn) {
    const relay = new ChunkRelay<string, AgentEvent>(undefined);
    let isLeft = false;
    const ended = outcome.then((end) => (isLeft ? leftBy(end) : end));
    super(relay, ended, (reason, isReader) => {
      isLeft ||= isReader;
      controller.abort(reason);
    });
    this.outcome = ended;
    this.#events = events;
    void relay
      .read(events.iterator(), { signal: controller.signal, ...restless })
      .catch(() => undefined)
      .then(() => ended)
      .then((end) => relay.settled(end.ok ? { ok: true, value: relay.end } : end));
  }

  get missed(): number {
    return this.#events.missed;
  }
}

/** The agent works on whether it is read or not: no limit stands still for the reader. */
const restless = { rest: () => undefined, resume: () => undefined, firstChunkCame: () => 0 };

function leftBy(end: Outcome<AgentResult>): Outcome<AgentResult> {
  if (end.ok || end.failure.kind !== 'cancelled') return end;
  return { ok: false, failure: { ...end.failure, reason: 'reader_left', message: 'The reader left the stream' } };
}

/** Hands on what a fallback streams. */
export async function readOn(
  { chunks, outcome }: AgentTurnStream,
  tell: (event: AgentEvent) => void,
): Promise<Outcome<AgentResult>> {
  try {
    for await (const event of chunks) tell(event);
  } catch {
    // The outcome says the same.
  }
  return outcome;
}

/** The events of a turn beside its outcome. */
export function turnOf({ events, outcome }: BegunTurn): AgentTurn {
  return {
    outcome,
    get missed() {
      return events.missed;
    },
    [Symbol.asyncIterator]: () => events.iterator(),
  };
}
