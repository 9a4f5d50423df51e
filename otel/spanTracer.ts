import {
  type Attributes,
  context,
  type Context,
  ROOT_CONTEXT,
  type SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import type * as api from '@opentelemetry/api';
import type { CallTrace, Trace, TracedCall, TracedRequest, TracedTurn, Tracer } from '../src/calls/face.ts';
import type { Outcome } from '../src/policy/failures/face.ts';
import { CallSpan, type OpenSpan, type SpanScope, spanTime } from './callSpan.ts';
import {
  attributesOfAnswer,
  attributesOfFailure,
  attributesOfTurn,
  own,
  particularsOf,
  shapeOf,
  shapeOfRequest,
  standard,
  turnName,
  withEarlierNames,
} from './conventions.ts';
import { contextOf } from './traceContext.ts';

/** Makes a span of each call and of each turn. What the SDK of the host throws ends nothing: that call goes on without one. */
export class SpanTracer implements Tracer {
  readonly #tracer: api.Tracer;
  readonly #scope: SpanScope;
  /** Context of the turn of a session, for tool calls in a host without a context manager. */
  readonly #turns = new Map<string, Context>();

  constructor(tracer: api.Tracer, scope: SpanScope) {
    this.#tracer = tracer;
    this.#scope = scope;
  }

  callBegins(call: TracedCall): CallTrace {
    const { texts, earlierNames } = this.#scope;
    const bare = earlierNames ? withEarlierNames(shapeOf(call)) : shapeOf(call);
    const shape = { ...bare, name: texts.text(bare.name), attributes: texts.attributes(bare.attributes) };
    const attributes = { ...shape.attributes, ...texts.attributes(particularsOf(call)) };
    return new CallSpan(this.#scope, shape, this.#open(shape.name, shape.spanKind, attributes, this.#parentOf(call)));
  }

  turnBegins(turn: TracedTurn): Trace {
    const { clock, texts, instruments, safely } = this.#scope;
    const origin = (turn.origin as Context | undefined) ?? ROOT_CONTEXT;
    const opened = this.#open(turnName, internal, texts.attributes(attributesOfTurn(turn)), origin);
    this.#turns.set(turn.session, opened.context);
    const ended = (outcome: Outcome<unknown>): void => {
      if (this.#turns.get(turn.session) === opened.context) this.#turns.delete(turn.session);
      safely(() => {
        const { span, start, wallStart } = opened;
        const elapsedMs = Math.max(0, clock.now() - start);
        const failed = outcome.ok ? {} : attributesOfFailure('other', outcome.failure);
        span.setAttributes(failed);
        if (!outcome.ok) span.setStatus({ code: SpanStatusCode.ERROR, message: texts.text(outcome.failure.message) });
        span.end(spanTime(wallStart + elapsedMs));
        instruments.turnEnded(elapsedMs, { [own.messageKind]: texts.text(turn.kind), ...failed });
      });
    };
    return { run: (work) => context.with(opened.context, work), ended };
  }

  /** Tells of a session, while a turn of it is under way, in the span of that. */
  tellTurn(session: string | undefined, attributes: Attributes): void {
    const turn = session === undefined ? undefined : this.#turns.get(session);
    this.#scope.safely(() => turn && trace.getSpan(turn)?.setAttributes(attributes));
  }

  requestBegins(request: TracedRequest): Trace {
    const { clock, texts, instruments, safely } = this.#scope;
    const bare = shapeOfRequest(request);
    const [name, attributes] = [texts.text(bare.name), texts.attributes(bare.attributes)];
    const { requestId } = request;
    const particulars = requestId === undefined ? {} : { [standard.requestId]: texts.text(requestId) };
    const from = request.from === undefined ? context.active() : contextOf(request.from);
    const opened = this.#open(name, bare.spanKind, { ...attributes, ...particulars }, from);
    const ended = (outcome: Outcome<unknown>): void =>
      safely(() => {
        const { span, start, wallStart } = opened;
        const elapsedMs = Math.max(0, clock.now() - start);
        const { kind } = bare;
        const said = outcome.ok ? attributesOfAnswer(kind, outcome.value) : attributesOfFailure(kind, outcome.failure);
        span.setAttributes(said);
        if (standard.errorType in said) {
          const message = outcome.ok ? undefined : texts.text(outcome.failure.message);
          span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
        }
        span.end(spanTime(wallStart + elapsedMs));
        instruments.operationEnded(kind, elapsedMs, { ...attributes, ...said });
      });
    return { run: (work) => context.with(opened.context, work), ended };
  }

  here(): Context {
    return context.active();
  }

  #parentOf({ session }: TracedCall): Context {
    const active = context.active();
    if (trace.getSpan(active) !== undefined || session === undefined) return active;
    return this.#turns.get(session) ?? active;
  }

  #open(name: string, kind: SpanKind, attributes: Attributes, parent: Context): OpenSpan {
    const { clock, safely } = this.#scope;
    const wallStart = clock.wallNow();
    let span = trace.wrapSpanContext(nowhere);
    safely(() => {
      span = this.#tracer.startSpan(name, { kind, attributes, startTime: spanTime(wallStart) }, parent);
    });
    return { span, context: trace.setSpan(parent, span), wallStart, start: clock.now() };
  }
}

const internal: SpanKind = 0;
/** Context of a span that could not be made. */
const nowhere = { traceId: '0'.repeat(32), spanId: '0'.repeat(16), traceFlags: 0 };
