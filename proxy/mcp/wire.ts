import type { McpRelay } from '../wire/mcpRelay.ts';
import { AttemptError, type FailureFacts } from '../../src/policy/failures/face.ts';
import { TurnoverMap } from './turnoverMap.ts';
import { type McpAnswer, type McpId, type McpParams, fieldsOf, idKey, withId } from '../../src/protocol/mcp/face.ts';
import { progressKey } from '../wire/requestTraits.ts';
import { withMetaTexts, withProgressToken } from '../wire/rewrite.ts';
import { cancelledLine } from '../wire/syntheticAnswer.ts';
import { requestLine } from '../../src/protocol/face.ts';
import { type Line, Outlet, textOf } from './outlet.ts';

/** A caller that waits for the answer to a request. */
export interface Asker {
  /** Gets the answer as the server wrote it, with the id the request came with. */
  answered(line: Line, answer: McpAnswer, question: Question): void;
  /** The server shows that it works on it. @returns whether that is news to the caller. */
  progressed?(params: McpParams): boolean;
  /** The server has logged something while it worked on this alone. */
  logged?(): void;
  lost?(facts: FailureFacts): void;
}

/** A request, as it is to be written. */
export interface Asking {
  readonly id: McpId;
  readonly key: string;
  /** As it is to be written, its end included. */
  readonly line: Uint8Array;
  readonly token?: string | undefined;
  /** Gives it a token where it has none, for us to see its progress. */
  readonly addsToken?: boolean | undefined;
  /** True where its id was used on this server before. */
  readonly again?: boolean | undefined;
  /** Goes into its `_meta`. */
  readonly meta?: Readonly<Record<string, string>> | undefined;
  /** True where its progress token outlives its answer. */
  readonly asTask?: boolean | undefined;
}

/** A request that the server was asked and has not answered. */
export interface Question {
  /** Another one from the moment on at which several wait for it. */
  asker: Asker;
  readonly wireId: McpId;
  readonly wireKey: string;
  readonly id: McpId;
  readonly token: string | undefined;
  /** The progress that comes is for us alone. */
  readonly ownToken: boolean;
  readonly asTask: boolean;
  open: boolean;
}

/** Parts that the wires of one proxy share. */
export interface WireParts {
  readonly now: () => number;
  readonly nextId: () => string;
  /** An answer came that nobody waits for any more; `givenUpAt` when its request was given up, as far as is known. */
  readonly late: (asker: Asker | undefined, answer: McpAnswer, givenUpAt: number | undefined) => void;
}

interface GivenUp {
  readonly asker: Asker;
  readonly at: number;
}

/** Requests that were given up and may still be answered; of more the oldest are forgotten. */
const mostGivenUp = 1000;
/** Progress tokens of tasks, which outlive the answer to their request; of more the oldest are forgotten. */
const mostTaskTokens = 1000;

/** The exchange with one server process: the callers that wait, each for its answer. */
export class Wire extends Outlet {
  readonly relay: McpRelay;
  /** True once it takes requests of the client. */
  ready = false;
  readonly #parts: WireParts;
  readonly #questions = new TurnoverMap<string, Question>();
  readonly #givenUp = new Map<string, GivenUp>();
  readonly #tokens = new TurnoverMap<string, Question>();
  readonly #taskTokens = new Map<string, Question>();
  #lost: FailureFacts | undefined = undefined;

  constructor(relay: McpRelay, parts: WireParts) {
    super((line) => this.#lost === undefined && relay.write(line));
    this.relay = relay;
    this.#parts = parts;
  }

  /** Requests without an answer. */
  get questions(): Iterable<Question> {
    return this.#questions.values();
  }

  /** Asks the server. Undefined when it cannot be written to. */
  ask(asker: Asker, asking: Asking): Question | undefined {
    const { id, key, addsToken = false, asTask = false } = asking;
    const isTaken = asking.again === true || this.#questions.has(key) || this.#givenUp.has(key);
    const wireId = isTaken ? this.#parts.nextId() : id;
    let line: Line = asking.line;
    let token = asking.token;
    let ownToken = false;
    if (isTaken) line = withId(textOf(line), wireId);
    if (asking.meta !== undefined) line = withMetaTexts(textOf(line), asking.meta);
    if (addsToken) {
      const added = this.#parts.nextId();
      const marked = withProgressToken(textOf(line), added);
      if (marked !== undefined) {
        line = marked;
        token = idKey(added);
        ownToken = true;
      }
    }
    if (!this.write(line)) return undefined;
    const wireKey = isTaken ? `s${wireId}` : key;
    const question: Question = { asker, wireId, wireKey, id, token, ownToken, asTask, open: true };
    this.#questions.set(wireKey, question);
    if (token !== undefined) this.#tokens.set(token, question);
    return question;
  }

  /** Asks the server something of our own. Rejects with an {@link AttemptError} when it is lost. */
  reply(method: string, params: McpParams | undefined): Promise<McpAnswer> {
    return new Promise((resolve, reject) => {
      const id = this.#parts.nextId();
      const lost = (facts: FailureFacts): void => reject(new AttemptError(facts));
      const asking = { id, key: `s${id}`, line: Buffer.from(requestLine(id, method, params)) };
      const asked = this.ask({ answered: (_, answer) => resolve(answer), lost }, asking);
      if (asked === undefined) lost(this.#lost ?? unwritable);
    });
  }

  /** The same, for its result. Rejects with an {@link AttemptError} also when it says no. */
  async request(method: string, params: McpParams | undefined): Promise<McpParams> {
    const { result, error, flaw } = await this.reply(method, params);
    if (flaw !== undefined) throw new AttemptError(refused(method, { message: `its answer is malformed: ${flaw}` }));
    if (result === undefined) throw new AttemptError(refused(method, fieldsOf(error)));
    return result;
  }

  /** The server answered. The line goes to the caller that waits for it, if one does. */
  answered(line: Line, answer: McpAnswer): void {
    const question = this.#take(answer);
    if (question === undefined) return;
    const isRewritten = question.wireId !== question.id;
    question.asker.answered(isRewritten ? withId(textOf(line), question.id) : line, answer, question);
  }

  /** Decides on a progress notification: it passes, or nobody waits for it. */
  progressed(params: McpParams): 'pass' | 'drop' {
    const token = progressKey(params);
    const question = token === undefined ? undefined : (this.#tokens.get(token) ?? this.#taskTokens.get(token));
    if (question === undefined) return 'drop';
    const isNews = question.asker.progressed?.(params) !== false;
    return isNews && !question.ownToken ? 'pass' : 'drop';
  }

  /** The server logged something. On stdio that names no request: of one call alone it is a sign of life, of several it says nothing. */
  logged(): void {
    let only: Asker | undefined;
    for (const { asker } of this.#questions.values()) {
      if (asker.logged === undefined) continue;
      if (only !== undefined) return;
      only = asker;
    }
    only?.logged?.();
  }

  /**
   * Nobody waits for the answer any more.
   * @param reason - told to the server; undefined when it is not to be told, or was.
   */
  giveUp(question: Question, reason: string | undefined): void {
    if (!question.open) return;
    this.#close(question);
    if (this.#lost !== undefined) return;
    this.#givenUp.set(question.wireKey, { asker: question.asker, at: this.#parts.now() });
    for (const key of this.#givenUp.keys()) {
      if (this.#givenUp.size <= mostGivenUp) break;
      this.#givenUp.delete(key);
    }
    if (reason !== undefined) this.write(cancelledLine(question.wireId, reason));
  }

  /** The server is gone: nothing is written any more. */
  seal(facts: FailureFacts): void {
    this.#lost = facts;
    this.ready = false;
  }

  /** Tells each waiting caller that the server is gone. */
  lose(facts: FailureFacts): void {
    this.seal(facts);
    for (const question of [...this.#questions.values()]) {
      if (!question.open) continue;
      this.#close(question);
      question.asker.lost?.(facts);
    }
  }

  requestFailed(id: McpId, facts: FailureFacts): void {
    const question = this.#questions.get(idKey(id) ?? '');
    if (question === undefined) return;
    this.#close(question);
    question.asker.lost?.(facts);
  }

  #take(answer: McpAnswer): Question | undefined {
    const { key } = answer;
    if (key === undefined) return undefined;
    const question = this.#questions.get(key);
    if (question !== undefined) {
      this.#close(question);
      if (question.asTask && question.token !== undefined) {
        this.#taskTokens.set(question.token, question);
        for (const token of this.#taskTokens.keys()) {
          if (this.#taskTokens.size <= mostTaskTokens) break;
          this.#taskTokens.delete(token);
        }
      }
      return question;
    }
    const before = this.#givenUp.get(key);
    this.#givenUp.delete(key);
    this.#parts.late(before?.asker, answer, before?.at);
    return undefined;
  }

  #close(question: Question): void {
    question.open = false;
    this.#questions.delete(question.wireKey);
    if (question.token !== undefined && this.#tokens.get(question.token) === question) {
      this.#tokens.delete(question.token);
    }
  }
}

function refused(method: string, { message, code }: McpParams): FailureFacts {
  return {
    kind: 'protocol',
    reason: method === 'initialize' ? 'init_rejected' : undefined,
    message: `The server refused ${method}: ${typeof message === 'string' ? message : 'it did not say why'}`,
    outcome: 'failed',
    code: typeof code === 'number' ? code : undefined,
  };
}

const unwritable: FailureFacts = {
  kind: 'crash',
  reason: 'connection_lost',
  message: 'The server takes no more requests',
  outcome: 'not_started',
  breaker: 'ignored',
};
