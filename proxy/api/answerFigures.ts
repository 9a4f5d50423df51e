import { parsedJson } from '../../src/policy/text/face.ts';
import { read, readInteger, readString } from '../../src/policy/failures/face.ts';
import { ServerSentEventParser } from '../../src/streams/face.ts';

/** Figures that the answer of a model gives of itself, as far as it does. */
export interface AnswerFigures {
  /** The model that has answered. */
  readonly model?: string | undefined;
  /** All of them, those that were read from a cache or written to one included. */
  readonly inputTokens?: number | undefined;
  /** Tokens of them that were read from a cache, and written to one. */
  readonly cacheReadTokens?: number | undefined;
  readonly cacheWriteTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Tokens of them that the model reasoned with. */
  readonly reasoningTokens?: number | undefined;
}

/** A longer answer, or event, is not read for its figures, in bytes. */
const mostRead = 4 * 1024 * 1024;

/** Reads the figures of an answer that passes, for telemetry. It keeps no more of a stream than the event that has begun. Never throws. */
export class AnswerReader {
  readonly #parser: ServerSentEventParser | undefined;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isLost = false;
  #isFirst = true;
  #figures: AnswerFigures = {};

  /** @param isStream - whether it is a stream of events; else it is one object of JSON. */
  constructor(isStream: boolean) {
    const onEvent = ({ data }: { readonly data: string }): void => {
      // The first event of a stream names the model.
      if (this.#isFirst || data.includes('"usage')) this.#take(data);
      this.#isFirst = false;
    };
    this.#parser = isStream ? new ServerSentEventParser({ maxBytes: mostRead, onEvent }) : undefined;
  }

  push(chunk: Buffer): void {
    if (this.#isLost) return;
    try {
      if (this.#parser !== undefined) this.#parser.push(chunk);
      else if ((this.#bytes += chunk.length) <= mostRead) this.#chunks.push(chunk);
      else this.#lose();
    } catch {
      // An event that is too long.
      this.#lose();
    }
  }

  /** Figures by now; those of an answer that is no stream once all of it is there. */
  get figures(): AnswerFigures {
    if (this.#parser === undefined && this.#chunks.length > 0) {
      this.#take(Buffer.concat(this.#chunks).toString('utf8'));
      this.#chunks = [];
    }
    return this.#figures;
  }

  #take(json: string): void {
    const said = parsedJson(json);
    if (said === undefined) return;
    const answer = read(said, 'message') ?? read(said, 'response') ?? said;
    const usage = read(answer, 'usage') ?? read(said, 'usage') ?? read(said, 'usageMetadata');
    const asked = read(usage, 'input_tokens_details') ?? read(usage, 'prompt_tokens_details');
    const given = read(usage, 'output_tokens_details') ?? read(usage, 'completion_tokens_details');
    // Gemini counts thoughts apart.
    const [words, thoughts = 0] = ['candidatesTokenCount', 'thoughtsTokenCount'].map((name) =>
      readInteger(usage, name),
    );
    const told: AnswerFigures = {
      model: readString(answer, 'model') ?? readString(said, 'modelVersion'),
      inputTokens: inputOf(usage),
      cacheReadTokens:
        readInteger(usage, 'cache_read_input_tokens') ??
        readInteger(asked, 'cached_tokens') ??
        readInteger(usage, 'cachedContentTokenCount'),
      cacheWriteTokens: readInteger(usage, 'cache_creation_input_tokens'),
      outputTokens:
        readInteger(usage, 'output_tokens') ?? readInteger(usage, 'completion_tokens') ?? (words && words + thoughts),
      reasoningTokens: readInteger(given, 'reasoning_tokens'),
    };
    const news = Object.entries(told).filter(([, value]) => value !== undefined);
    this.#figures = { ...this.#figures, ...(Object.fromEntries(news) as AnswerFigures) };
  }

  #lose(): void {
    this.#isLost = true;
    this.#chunks = [];
  }
}

/** Anthropic counts what it reads from a cache, or writes to one, apart from the rest. */
function inputOf(usage: unknown): number | undefined {
  const rest = ['input_tokens', 'prompt_tokens', 'promptTokenCount']
    .map((name) => readInteger(usage, name))
    .find(Number.isInteger);
  if (rest === undefined) return undefined;
  const apart = ['cache_creation_input_tokens', 'cache_read_input_tokens'];
  return apart.reduce((sum, name) => sum + (readInteger(usage, name) ?? 0), rest);
}
