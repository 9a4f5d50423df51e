import type { KeyPlace } from '../../src/calls/reconcile/face.ts';
import type { AttemptContext, Call, Trace } from '../../src/calls/face.ts';
import type { Effect } from '../../src/policy/face.ts';
import { AttemptError, type Failure, type FailureFacts, risks } from '../../src/policy/failures/face.ts';
import {
  type McpAnswer,
  type McpParams,
  type McpRequest,
  type McpTask,
  ProgressMark,
  exactInput,
  failureIn,
  fieldsOf,
  isModern,
} from '../../src/protocol/mcp/face.ts';
import type { SeenCall } from '../../src/policy/spinning/face.ts';
import { keptFlaw } from '../wire/listRecord.ts';
import { effectOfMethod } from '../wire/requestTraits.ts';
import { withParamText, withText } from '../wire/rewrite.ts';
import { answerOfFailure, answerWith, withNote } from '../wire/syntheticAnswer.ts';
import { notificationLine } from '../../src/protocol/face.ts';
import { type Line, textOf } from './outlet.ts';
import type { Asker, Question, Wire } from './wire.ts';

/** A request that several calls wait for. */
export interface SharedRequest {
  /** True once nobody waits for it. */
  readonly isLeft: boolean;
  leave(call: ClientCall): void;
}

/** A request of the client, from its line to its one answer. */
export class ClientCall implements Asker {
  readonly request: Pick<McpRequest, 'id' | 'key' | 'method' | 'params'>;
  readonly tool: string | undefined;
  /** Its arguments, as equal calls share them. */
  input: unknown;
  readonly prompt: string | undefined;
  /** Name that its client has for the tool, while the list of the server has to say which that is. */
  calledAs: string | undefined = undefined;
  /** Name in records. */
  readonly label: string;
  readonly modern: boolean;
  readonly asTask: boolean;
  /** It came in a batch, which is to stay as it is. */
  readonly inBatch: boolean;
  readonly startedAt: number;
  readonly effect: Effect | undefined;
  /** Kept for as long as it may have to be written. */
  line: Uint8Array | undefined;
  row: Call<ClientCall, McpAnswer> | undefined = undefined;
  /** Follows it, where the host asks for telemetry. */
  trace: Trace | undefined = undefined;
  question: Question | undefined = undefined;
  /** The request that it shares with equal calls, and a way to make one of its own. */
  joint: SharedRequest | undefined = undefined;
  askAlone: (() => void) | undefined = undefined;
  /** Wire that it was written to last. */
  wire: Wire | undefined = undefined;
  /** The client was given its answer. */
  delivered = false;
  /** That of the server, once the client has it. */
  answer: McpAnswer | undefined = undefined;
  /** Length of what the client was given, in bytes or characters. */
  answerBytes = 0;
  /** That came when the client waited for it no longer, unless it is large: for a task. */
  late: McpAnswer | undefined = undefined;
  /** The client waits for it no longer. */
  cancelled = false;
  /** Ends the work of the attempt. */
  settle: ((answer: McpAnswer) => void) | undefined = undefined;
  reject: ((error: Error) => void) | undefined = undefined;
  context: AttemptContext | undefined = undefined;
  /** It as repetition is judged by it, where it is, and what answers it in place of its server, where it is held. */
  seen: SeenCall | undefined = undefined;
  refusal: FailureFacts | undefined = undefined;
  /** It was written as a task that its client knows nothing of; that task, while it goes on; answers to what it asked. */
  ownTask = false;
  task: McpTask | undefined = undefined;
  inputs: McpParams = {};
  /** Tells whether something else follows from an answer than that the client gets it. */
  follows: ((answer: McpAnswer) => boolean) | undefined = undefined;
  /** Words on the person who was asked meanwhile, for its answer. */
  asked: string | undefined = undefined;
  /** Its attempt was given up, and its answer would settle what became of it. */
  wantsLate = false;
  /** Lost with a server that had not told what its tools do: `waits` until the next one has, then `told`. */
  unheard: 'waits' | 'told' | undefined = undefined;
  readonly #mark = new ProgressMark();
  #progress = Number.NEGATIVE_INFINITY;
  readonly #deliver: (call: ClientCall, line: Line, answer: McpAnswer) => void;

  constructor(
    { id, key, method, params }: McpRequest,
    line: Uint8Array,
    startedAt: number,
    effectOfTool: (tool: string) => Effect | undefined,
    inBatch = false,
    deliver: (call: ClientCall, line: Line, answer: McpAnswer) => void = () => undefined,
  ) {
    this.request = { id, key, method, params };
    const name = method === 'tools/call' ? params['name'] : undefined;
    this.tool = typeof name === 'string' ? name : undefined;
    this.input = this.tool === undefined ? undefined : exactInput(() => textOf(line), params);
    this.prompt = method === 'prompts/get' && typeof params['name'] === 'string' ? params['name'] : undefined;
    this.label = this.tool === undefined ? method : labelOf(this.tool);
    this.modern = isModern(params);
    this.asTask = params['task'] !== undefined;
    this.startedAt = startedAt;
    this.effect = this.tool === undefined ? effectOfMethod(method) : effectOfTool(this.tool);
    this.line = line;
    this.#deliver = deliver;
    this.inBatch = inBatch;
  }

  /** At once, so that what the server says next does not overtake it; the call path hears of it in the same turn. */
  answered(line: Line, answer: McpAnswer): void {
    this.question = undefined;
    const flaw = answer.flaw ?? keptFlaw(this.request.method, answer);
    if (flaw !== undefined) {
      const message = `The answer is malformed: ${flaw}`;
      this.reject?.(new AttemptError({ kind: 'protocol', message, outcome: 'unknown' }));
      return;
    }
    if (this.follows?.(answer) === true) return;
    this.deliver(line, answer);
    this.settle?.(answer);
  }

  /** Gives the client its answer, once. */
  deliver(line: Line, answer: McpAnswer): void {
    if (this.isOver && line.length <= longestLate) this.late = answer;
    if (this.isOver) return;
    this.delivered = true;
    this.answer = answer;
    this.#deliver(this, line, answer);
  }

  /** Its attempt is over; when the server itself is gone the call path has heard of it by then. */
  lost(facts: FailureFacts): void {
    this.question = undefined;
    this.reject?.(new AttemptError(facts));
  }

  /** The client waits for nothing of it any more. */
  get isOver(): boolean {
    return this.delivered || this.cancelled;
  }

  /** Its answer came after its attempt was given up. @returns whether that settles what became of it. */
  answeredLate(answer: McpAnswer): boolean {
    if (!this.wantsLate || answer.flaw !== undefined) return false;
    this.wantsLate = false;
    const facts = failureIn(answer);
    if (facts === undefined) this.settle?.(answer);
    else this.reject?.(new AttemptError(facts));
    return true;
  }

  /** Nobody wants its late answer any more. */
  letGo(): void {
    if (!this.wantsLate) return;
    this.wantsLate = false;
    this.reject?.(givenUp);
  }

  /** Carries a key from now on, unless the client has given one itself. */
  takeKey({ in: where, name }: KeyPlace, key: string): void {
    if (this.line === undefined) return;
    const path = where === 'meta' ? ['_meta', name] : ['arguments', ...name.split('.')];
    this.line = Buffer.from(withParamText(textOf(this.line), path, key));
  }

  /** A progress of ours, above all that the client was told, where it wants to hear of any. Far below what the server will say of its own. */
  progressLine(message: string): string | undefined {
    const { progressToken } = fieldsOf(this.request.params['_meta']);
    if (progressToken === undefined) return undefined;
    const last = Math.max(0, this.#progress);
    this.#progress = last + Math.max(1e-6, last * 1e-9);
    return notificationLine('notifications/progress', { progressToken, progress: this.#progress, message });
  }

  logged(): void {
    this.context?.touch();
  }

  progressed(params: McpParams): boolean {
    if (this.#mark.moves(params)) this.context?.touch();
    const { progress } = params;
    // A second server begins to count anew; what the client sees must not go back.
    const isNews = typeof progress !== 'number' || progress > this.#progress;
    if (typeof progress === 'number' && isNews) this.#progress = progress;
    return isNews && (this.asTask || !this.delivered);
  }
}

/** Labels that are kept: a text that is made anew for each call is looked up slowly. */
const labels = new Map<string, string>();
const mostLabels = 1000;

function labelOf(tool: string): string {
  const known = labels.get(tool);
  if (known !== undefined) return known;
  const label = `tools/call ${tool}`;
  if (labels.size < mostLabels) labels.set(tool, label);
  return label;
}

/** Longest answer that a call holds for its task, in bytes or characters. */
const longestLate = 1_000_000;

/** Work that ends because it was told to is no failure of its own. */
export const givenUp = new AttemptError({ kind: 'cancelled', message: 'given up', outcome: 'cancelled' });

/**
 * The answer of ours to a request that its server did not answer, as one line.
 * @param stderr - the last of what the server said; left out where it has nothing to do with the failure.
 */
export function refusalOf(call: ClientCall, failure: Failure, elapsedMs: number, stderr: string): string {
  const { request, modern, asTask } = call;
  const { id, method } = request;
  const told = isHarmless(call) && failure.outcome === 'unknown' ? { ...failure, outcome: 'failed' as const } : failure;
  const words = isOfServer(failure) || method === 'initialize' ? stderr : '';
  return answerOfFailure({ id, method, modern, asTask }, told, elapsedMs, words);
}

/** Whatever became of it, to ask again does no harm. */
function isHarmless({ tool, effect }: ClientCall): boolean {
  return tool === undefined && (effect === 'readOnly' || effect === 'idempotent');
}

function isOfServer({ kind }: Failure): boolean {
  return kind !== 'timeout' && kind !== 'too_many_requests' && kind !== 'cancelled';
}

/** The answer to a request that was found out, or that its server gave to another one, as one line. @param how - it is known, in words. */
export function foundLine({ request, modern, row }: ClientCall, answer: McpAnswer, how: string | undefined): string {
  const line = answerWith({ id: request.id, modern }, answer, how);
  // An agent that asked for it anew has to know that it was not done anew.
  return row?.progress.joined === true && how !== undefined ? withText(line, `(Not called again: ${how}.)`) : line;
}

/**
 * Writes what the client reads of an error that its server answered: where an earlier attempt of the call lost its answer, an error of the last one says
 * nothing of that, and would be taken for the whole truth.
 */
export function withEarlierAttempts({ request, row, tool }: ClientCall, line: Line, answer: McpAnswer): Line {
  if (tool === undefined || row === undefined || row.attempts < 2 || row.progress.effect !== 'unknown') return line;
  const effect = row.expectedEffect ?? 'mutating';
  if (effect === 'readOnly') return line;
  const note = `An earlier attempt of this call lost its answer: outcome unknown; ${risks[effect]}.`;
  return withNote(request.id, answer, note, { outcome: 'unknown', attempts: row.attempts });
}
