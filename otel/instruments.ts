import type { Attributes, Counter, Histogram, Meter } from '@opentelemetry/api';
import { type CallShape, own, standard } from './conventions.ts';

/** Bounds of buckets in seconds, and of numbers of calls, as the conventions have them. */
const genAiBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const mcpBounds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300];
const callBounds = [1, 2, 4, 8, 16, 32, 64, 128];
const httpBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** Durations by the conventions: name, buckets, and calls of which kind they are of. */
export const durations = [
  ['gen_ai.client.inference.duration', genAiBounds, ['chat']],
  ['gen_ai.invoke_agent.duration', genAiBounds, ['agent', 'workflow']],
  ['gen_ai.execute_tool.duration', genAiBounds, ['tool']],
  ['mcp.client.operation.duration', mcpBounds, ['mcp']],
  ['mcp.server.operation.duration', mcpBounds, ['mcpServer']],
  ['http.client.request.duration', httpBounds, ['http']],
  ['http.server.request.duration', httpBounds, ['httpServer']],
] as const satisfies readonly (readonly [string, readonly number[], readonly CallShape['kind'][]])[];

/** Durations that were renamed by v0.1.0 of the conventions; told beside the others for one release, where that is asked for. */
const earlierDurations = [
  ['gen_ai.client.operation.duration', genAiBounds, ['agent', 'chat']],
  ['gen_ai.workflow.duration', genAiBounds, ['workflow']],
] as const satisfies readonly (readonly [string, readonly number[], readonly CallShape['kind'][]])[];

/** Tokens of requests to models, by the attribute of the span that has their number. */
export const tokenCounters = [
  ['gen_ai.client.inference.usage.input_tokens', standard.inputTokens],
  ['gen_ai.client.inference.usage.output_tokens', standard.outputTokens],
] as const;

/** Calls of one turn or run of an agent: name, unit, and what they are. */
export const agentCalls = {
  model: ['gen_ai.invoke_agent.inference_calls', '{inference_call}', 'Answers of the model'],
  tools: ['gen_ai.invoke_agent.tool_calls', '{tool_call}', 'Calls of tools'],
} as const;

/** Instruments that count and measure as calls and turns end. */
export class Instruments {
  readonly #byKind = new Map<CallShape['kind'], Histogram[]>();
  readonly #call: Histogram;
  readonly #turn: Histogram;
  readonly #retries: Counter;
  readonly #modelCalls: Histogram;
  readonly #toolCalls: Histogram;

  readonly #tokens: readonly (readonly [Counter, string])[];

  /** @param earlierNames - whether what v0.1.0 of the conventions renamed is told under its old name, too. */
  constructor(meter: Meter, earlierNames = false) {
    const histogram = (name: string, description: string, bounds: readonly number[]): Histogram =>
      meter.createHistogram(name, { description, unit: 's', advice: { explicitBucketBoundaries: [...bounds] } });
    for (const [name, bounds, kinds] of [...durations, ...(earlierNames ? earlierDurations : [])]) {
      const made = histogram(name, `Duration of calls, waits and retries included (${kinds.join(', ')}).`, bounds);
      for (const kind of kinds) this.#byKind.set(kind, [...(this.#byKind.get(kind) ?? []), made]);
    }
    this.#call = histogram(
      'unwedge.call.duration',
      'Duration of calls of any kind, waits and retries included.',
      mcpBounds,
    );
    this.#turn = histogram('unwedge.turn.duration', 'Duration of turns of sessions.', mcpBounds);
    this.#tokens = tokenCounters.map(([name, attribute]) => [
      meter.createCounter(name, {
        description: 'Tokens of requests to models, as their answers say.',
        unit: '{token}',
      }),
      attribute,
    ]);
    const calls = ([name, unit, of]: readonly [string, string, string]): Histogram =>
      meter.createHistogram(name, {
        description: `${of} of one turn or run of an agent, as far as it tells.`,
        unit,
        advice: { explicitBucketBoundaries: callBounds },
      });
    this.#modelCalls = calls(agentCalls.model);
    this.#toolCalls = calls(agentCalls.tools);
    this.#retries = meter.createCounter('unwedge.call.retries', {
      description: 'Attempts that failed and were followed by another one.',
      unit: '{retry}',
    });
  }

  callEnded(kind: CallShape['kind'], elapsedMs: number, attributes: Attributes): void {
    this.#call.record(elapsedMs / 1000, attributes);
    this.operationEnded(kind, elapsedMs, attributes);
  }

  /** By the conventions alone: a request that came is told as the call that it becomes as well. */
  operationEnded(kind: CallShape['kind'], elapsedMs: number, attributes: Attributes): void {
    for (const histogram of this.#byKind.get(kind) ?? []) histogram.record(elapsedMs / 1000, attributes);
  }

  /** @param figures - what the answer of a model says of itself. */
  tokensUsed(figures: Attributes, attributes: Attributes): void {
    for (const [counter, attribute] of this.#tokens) {
      const count = figures[attribute];
      if (typeof count === 'number' && count > 0) counter.add(count, attributes);
    }
  }

  /** @param calls - that an agent made. */
  agentCalled({ model, tools }: { readonly model?: number; readonly tools?: number }, attributes: Attributes): void {
    if (model !== undefined) this.#modelCalls.record(model, attributes);
    if (tools !== undefined) this.#toolCalls.record(tools, attributes);
  }

  callRetried(integration: string, kind: string): void {
    this.#retries.add(1, { [own.integration]: integration, [own.failureKind]: kind });
  }

  turnEnded(elapsedMs: number, attributes: Attributes): void {
    this.#turn.record(elapsedMs / 1000, attributes);
  }
}
