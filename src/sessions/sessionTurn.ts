import { scopeRule } from '../calls/callOptions.ts';
import { streamCancelled } from '../calls/integration.ts';
import { markOfWork } from '../calls/workSignal.ts';
import type { FailureFacts, Outcome } from '../policy/failures/failure.ts';
import { read } from '../policy/failures/errorChain.ts';
import { name, number } from '../policy/options/optionKeys.ts';
import { readGiven, readOptions, readValue } from '../policy/options/readOptions.ts';
import { Questions } from './questions.ts';
import type { TurnScope } from './sessionScope.ts';
import type { ToolResult } from './toolResult.ts';
import { RelayedStream } from '../streams/callStream.ts';
import { ChunkRelay, type Resume, type StreamEnd } from '../streams/chunkRelay.ts';
import {
  type CallTool,
  checkToolStream,
  type StreamTool,
  toolCallKeys,
  type ToolCallOptions,
  type ToolStream,
} from './toolRequest.ts';
import type { AskPerson, QuestionOptions, Turn } from './turn.ts';
import { type Repetition, type ToolAnswered, TurnCalls } from './turnCalls.ts';

const spendingKeys = { tokens: number({ default: 0 }), money: number({ default: 0 }) };

/** @throws TypeError or RangeError when the integration has no name, or the tool is none. */
function nameOf(integration: string | { readonly name: string }, tool: string): string {
  const called = typeof integration === 'object' ? read(integration, 'name') : integration;
  const target = readValue('integration', called, name);
  readValue('tool', tool, name);
  return target;
}

/** A turn, for the session it belongs to. */
export class SessionTurn implements Turn {
  readonly number: number;
  readonly session: string;
  readonly messageId: string;
  readonly delivery: number;
  readonly #scope: TurnScope;
  readonly #calls: TurnCalls;
  readonly #questions: Questions;
  readonly #controller = new AbortController();
  #isDone = false;

  constructor(scope: TurnScope, repetition: Repetition) {
    this.#scope = scope;
    markOfWork(this.#controller.signal, scope.session.id);
    this.#calls = new TurnCalls(scope, repetition);
    this.#questions = new Questions(scope);
    this.number = scope.number;
    this.session = scope.session.id;
    this.messageId = scope.first.id;
    this.delivery = scope.delivery;
  }

  /** For the session, as `questions` is: no field of its own, so that a handler that writes its turn as JSON or copies it has neither. */
  get calls(): TurnCalls {
    return this.#calls;
  }

  get questions(): Questions {
    return this.#questions;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  readonly done = (): Promise<boolean> => {
    this.#isDone = true;
    return this.#scope.done();
  };

  readonly touch = (): void => {
    const { session, watch } = this.#scope;
    watch.progressed(session.clock.now());
  };

  readonly tool: CallTool = (
    integration: string | { readonly name: string },
    tool: string,
    input?: unknown,
    options: ToolCallOptions = {},
  ): Promise<ToolResult<never>> => {
    const target = nameOf(integration, tool);
    const checked = readGiven('options', options, toolCallKeys, scopeRule);
    return new Promise((resolve) => {
      this.calls.start(target, tool, input, checked, (result) => resolve(result as ToolResult<never>));
    });
  };

  readonly stream: StreamTool = (
    integration: string | { readonly name: string },
    tool: string,
    input?: unknown,
    options: object = {},
  ): ToolStream<never> => {
    const target = nameOf(integration, tool);
    const { tools } = this.#scope.session;
    const { resume, reading, call } = checkToolStream(options, tools.isRead(target));
    const relay = new ChunkRelay<unknown, never>(resume as Resume<unknown, never> | undefined);
    let end: (facts: FailureFacts) => void = () => undefined;
    const result = new Promise<ToolResult<StreamEnd>>((resolve) => {
      const answered: ToolAnswered = (answer, failure) => {
        resolve(answer as ToolResult<StreamEnd>);
        relay.settled(failure === undefined ? { ok: true, value: relay.end } : { ok: false, failure });
      };
      end = this.calls.start(target, tool, input, call, answered, { reader: relay, reading });
    });
    const stream = new RelayedStream(relay, result, (reason, isReader) => end(streamCancelled(reason, isReader, true)));
    return Object.assign(stream, { result });
  };

  readonly ask = <T>(what: string, ask?: AskPerson<T>, options: QuestionOptions = {}): Promise<Outcome<T>> =>
    this.questions.ask(what, ask, options);

  readonly spend: Turn['spend'] = (costs) => {
    const read = readOptions('costs', costs, spendingKeys);
    this.#scope.session.budget?.spend(read, this.number);
  };

  readonly escalate = (reason: string): void => {
    readValue('reason', reason, name);
    this.#scope.session.facts.tell({ type: 'session.escalated', session: this.session, turn: this.number, reason });
  };

  /** Ends every open call and question and refuses new ones: the turn is over, whatever its handler still does. */
  close(facts: FailureFacts): void {
    this.calls.end(facts);
    this.questions.end(facts);
    this.#scope.watch.stop();
  }

  /** Tells the handler to end; its open calls and questions end, and new ones are refused. */
  abort(facts: FailureFacts): void {
    this.calls.end(facts);
    this.questions.end(facts);
    this.#controller.abort(new Error(facts.message));
  }
}
