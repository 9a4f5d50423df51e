import type {
  BatchObservableCallback,
  Meter,
  MeterProvider,
  ObservableGauge,
  TracerProvider,
} from '@opentelemetry/api';
import { circuitOf } from '../src/calls/face.ts';
import type { FactOf, FactType } from '../src/policy/facts/face.ts';
import { say } from '../src/policy/text/face.ts';
import { messageOf } from '../src/policy/failures/face.ts';
import type { Observed } from '../src/runtime/face.ts';
import { own } from './conventions.ts';
import { Instruments } from './instruments.ts';
import { RedactedTexts } from './redactedTexts.ts';
import { SpanTracer } from './spanTracer.ts';

/** Destinations of spans and metrics of a host. */
export interface Providers {
  readonly tracerProvider: TracerProvider;
  readonly meterProvider: MeterProvider;
  /** Tells names that the conventions have given up beside those of now. */
  readonly earlierNames?: boolean | undefined;
}

/** Has a host without telemetry tell of itself until it ends. @returns how to take it off before. */
export function attachTelemetry(
  observed: Observed,
  { tracerProvider, meterProvider, earlierNames = false }: Providers,
): () => void {
  const { runtime } = observed;
  const { tracing, clock, logger } = runtime;
  if (runtime.stopped) return () => undefined;

  let said = false;
  const safely = (run: () => void): void => {
    try {
      run();
    } catch (error) {
      // Said once: it would be so for every call.
      if (!said) say(logger, 'warn', `OpenTelemetry failed: ${messageOf(error)}`);
      said = true;
    }
  };
  const texts = new RedactedTexts(runtime.redactAnswer);
  const meter = meterProvider.getMeter(scopeName);
  const instruments = new Instruments(meter, earlierNames);
  const tracer = new SpanTracer(tracerProvider.getTracer(scopeName), {
    clock,
    texts,
    instruments,
    earlierNames,
    safely,
  });
  const ended = observe({ runtime, paths: () => observed.paths, sessions: () => observed.sessions }, meter, texts);
  tracing.tracer = tracer;
  const told = [
    runtime.bus.on('session.spinning', ({ session, step, form, count }) =>
      tracer.tellTurn(session, { [own.step]: step, [own.form]: form, [own.count]: count }),
    ),
    runtime.bus.on('budget.spent', ({ session, metric, per }) =>
      tracer.tellTurn(session, { [own.metric]: metric, [own.per]: per }),
    ),
  ];

  const off = (): void => {
    if (tracing.tracer !== tracer) return;
    tracing.tracer = undefined;
    leave();
    safely(ended);
    for (const end of told) end();
  };
  const leave = runtime.join({ afterChildren: off });
  return off;
}

/** The instrumentation scope. */
const scopeName = 'unwedge';

const states = ['closed', 'open', 'half-open', 'isolated', 'crashed'] as const;

/** Observes what the host's meter asks for when it exports, and what facts count. @returns how both end. */
function observe(
  { runtime, paths, sessions }: Pick<Observed, 'runtime'> & ObservedNow,
  meter: Meter,
  texts: RedactedTexts,
): () => void {
  const gauge = (name: string, description: string, unit: string): ObservableGauge =>
    meter.createObservableGauge(name, { description, unit });
  const breaker = gauge('unwedge.breaker.state', 'Whether a circuit is in this state (1) or not (0).', '1');
  const inFlight = gauge('unwedge.call.in_flight', 'Attempts under way.', '{attempt}');
  const waiting = gauge('unwedge.call.waiting', 'Calls that were accepted and have no attempt under way.', '{call}');
  const messages = gauge('unwedge.mailbox.messages', 'Messages that wait in the mailboxes of sessions.', '{message}');
  const oldest = gauge('unwedge.mailbox.oldest_age', 'For how long the oldest of them waits.', 's');
  const all = [breaker, inFlight, waiting, messages, oldest];

  const look: BatchObservableCallback = (result) => {
    for (const { name, link, stats } of paths().values()) {
      const attributes = { [own.integration]: texts.text(name) };
      const circuit = circuitOf(link);
      for (const state of states)
        result.observe(breaker, state === circuit ? 1 : 0, { ...attributes, [own.breakerState]: state });
      result.observe(inFlight, stats.attempts, attributes);
      result.observe(waiting, stats.waiting, attributes);
    }
    const mailboxes = [...sessions().values()];
    result.observe(
      messages,
      mailboxes.reduce((sum, { waiting: count }) => sum + count, 0),
    );
    result.observe(oldest, mailboxes.reduce((most, { oldestWaitMs }) => Math.max(most, oldestWaitMs), 0) / 1000);
  };
  meter.addBatchObservableCallback(look, all);

  const counted = <T extends FactType>(
    type: T,
    name: string,
    description: string,
    attributesOf: (fact: FactOf<T>) => Record<string, string>,
  ): (() => void) => {
    const counter = meter.createCounter(name, { description, unit: '1' });
    return runtime.bus.on(type, (fact) => counter.add(1, attributesOf(fact as FactOf<T>)));
  };
  const off = [
    counted(
      'session.watchdog_fired',
      'unwedge.watchdog.fired',
      'Tool calls and turns that the watchdog ended.',
      ({ rule }) => ({ [own.rule]: rule }),
    ),
    counted('session.spinning', 'unwedge.session.spinning', 'Steps against repetition.', ({ step, form }) => ({
      [own.step]: step,
      [own.form]: form,
    })),
    counted('budget.spent', 'unwedge.budget.spent', 'Budgets that were spent.', ({ metric, per }) => ({
      [own.metric]: metric,
      [own.per]: per,
    })),
    counted('breaker.opened', 'unwedge.breaker.opened', 'Openings of circuits.', ({ integration, kind }) => ({
      [own.integration]: integration,
      [own.failureKind]: kind,
    })),
    counted('call.pending', 'unwedge.call.pending', 'Calls that hung past half of a limit.', ({ integration }) => ({
      [own.integration]: integration,
    })),
    counted('child.restarting', 'unwedge.supervisor.restarts', 'Restarts of supervised children.', ({ child }) => ({
      [own.child]: child,
    })),
    counted('alert.raised', 'unwedge.alert.raised', 'Alerts that were raised.', ({ integration }) => ({
      [own.integration]: integration,
    })),
  ];
  return () => {
    meter.removeBatchObservableCallback(look, all);
    for (const end of off) end();
  };
}

interface ObservedNow {
  readonly paths: () => Observed['paths'];
  readonly sessions: () => Observed['sessions'];
}
