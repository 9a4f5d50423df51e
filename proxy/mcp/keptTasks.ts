import { randomUUID } from 'node:crypto';
import type { CallPath } from '../../src/calls/face.ts';
import { canonicalJson } from '../../src/policy/text/face.ts';
import { type Failure, type FailureFacts, type Outcome, syntheticResult } from '../../src/policy/failures/face.ts';
import { rpcErrors, rpcLine } from '../../src/protocol/face.ts';
import { type McpAnswer, type McpRequest, fieldsOf } from '../../src/protocol/mcp/face.ts';
import { ClientCall } from './clientCall.ts';
import type { ClientSettings } from './proxyRules.ts';
import type { ProxyScope } from './proxyScope.ts';
import { knowsTasks } from './toolTasks.ts';

/** A kept call as its client asks for it; `ended` once that has cancelled it, or has its result. */
interface KeptTask {
  readonly id: string;
  readonly call: ClientCall;
  readonly createdAt: string;
  readonly ttlMs: number;
  ended?: 'cancelled' | 'given';
}

type OwnRow = NonNullable<ClientCall['row']>;
type Give = (answer: object) => void;

/** Tasks that are known; of more the oldest are forgotten. */
const mostTasks = 100;
const pollMs = 1000;
/** Above all times of keeping: the end of that ends what waits for it. */
const longMs = 86_400_000;
const handedOut = 'its result was handed out already, and is not kept';

/** Calls that are kept, for a client that knows tasks: each is one, whose result is handed out once, as the late answer that it is (P-10). */
export class KeptTasks {
  readonly #scope: ProxyScope;
  readonly #path: CallPath<ClientCall, McpAnswer>;
  readonly #settings: Pick<ClientSettings, 'of'>;
  readonly #tasks = new Map<string, KeptTask>();
  /** Begins the ids of this connection, which nobody else can guess. */
  readonly #prefix = `unwedge-task-${randomUUID()}-`;
  /** Calls that wait for a result, by the keys of the requests for it. */
  readonly #asking = new Map<string, OwnRow>();
  #last = 0;

  constructor(scope: ProxyScope, path: CallPath<ClientCall, McpAnswer>, settings: Pick<ClientSettings, 'of'>) {
    this.#scope = scope;
    this.#path = path;
    this.#settings = settings;
  }

  /** Makes a task of a call whose limit has passed. @returns the answer to it; undefined where its work is not kept, or its client knows no tasks. */
  begin(call: ClientCall, { kept }: Failure): string | undefined {
    const { modern, asTask, request } = call;
    if (kept === undefined || !(modern ? knowsTasks(call) : asTask)) return undefined;
    const work = this.#path.keptInputs.find((each) => keyOf(each) === keyOf(call)) ?? call;
    const known = [...this.#tasks.values()].find((task) => task.call === work && task.ended === undefined);
    const createdAt = new Date(this.#scope.clock.wallNow()).toISOString();
    const task = known ?? { id: `${this.#prefix}${++this.#last}`, call: work, createdAt, ttlMs: kept.forMs };
    this.#tasks.set(task.id, task);
    if (this.#tasks.size > mostTasks) this.#tasks.delete([...this.#tasks.keys()][0] ?? '');
    const told = this.#told(task, 'working');
    return rpcLine({ id: request.id, result: modern ? { ...told, resultType: 'task' } : { task: told } });
  }

  /** Answers a request about a task of ours. @returns whether it is one. */
  answers({ id, key, method, params }: McpRequest): boolean {
    if (!method.startsWith('tasks/')) return false;
    const taskId = String(params['taskId']);
    if (!/^tasks\/(get|result|update|cancel)$/.test(method) || !taskId.startsWith(this.#prefix)) return false;
    const task = this.#tasks.get(taskId);
    const { outlet, told } = this.#scope;
    const give = (answer: object): void =>
      void outlet.write(told.line({ id, method, params }, task?.call.tool, rpcLine({ id, ...answer })));
    if (task === undefined) give(refused('it is not known any more'));
    else if (method === 'tasks/get') this.#get(key, task, give);
    else if (method === 'tasks/cancel') give(this.#cancelled(task));
    else if (method === 'tasks/update' || task.call.modern) give(refused('it asks nothing'));
    else this.#take(key, task, give);
    return true;
  }

  /** The client waits for an answer no longer: the result is still to be had. */
  letGo(key: string): void {
    const row = this.#asking.get(key);
    if (this.#asking.delete(key) && row !== undefined) this.#path.end(row, leftAlone);
  }

  #get(key: string, task: KeptTask, give: Give): void {
    const { call, ended } = task;
    const tell = (status: string, more = {}): void => give({ result: { ...this.#told(task, status), ...more } });
    if (ended === 'cancelled' || this.#path.keptInputs.includes(task.call)) tell(ended ?? 'working');
    else if (call.modern) this.#take(key, task, give, (end) => tell('result' in end ? 'completed' : 'failed', end));
    else tell(call.late === undefined ? 'failed' : 'completed', ended && { statusMessage: handedOut });
  }

  #cancelled(task: KeptTask): object {
    const isWorking = task.ended === undefined && this.#path.keptInputs.includes(task.call);
    if (isWorking) {
      task.ended = 'cancelled';
      const row = this.#again(task.call, () => undefined);
      this.#path.end(row, calledOff);
    }
    if (task.call.modern) return { result: { resultType: 'complete' } };
    return isWorking ? { result: this.#told(task, 'cancelled') } : refused('it has ended already');
  }

  /** Gives the end of a task, once; that of one that still works is waited for. */
  #take(key: string, task: KeptTask, give: Give, tell = give): void {
    const { row, late } = task.call;
    const done = (outcome: Outcome<McpAnswer>): void => {
      if (!outcome.ok && outcome.failure.message === leftAlone.message) return;
      this.#asking.delete(key);
      if (task.ended === undefined) tell(endOf(task, outcome));
      else give(refused(task.ended === 'given' ? handedOut : 'it was cancelled, and has no result'));
      task.ended ??= 'given';
    };
    // What only reads is made anew by an equal call, and so has its answer here alone.
    const isHere = late !== undefined && (task.ended !== undefined || row?.expectedEffect === 'readOnly');
    if (isHere) done({ ok: true, value: late });
    else this.#again(task.call, done, key);
  }

  /** Asks for the late answer of a call as an equal one does, but has nothing begun. */
  #again({ request, effect, input }: ClientCall, settled: (outcome: Outcome<McpAnswer>) => void, key?: string): OwnRow {
    const { clock, settings } = this.#scope;
    const own = { kind: 'request', ...request, id: this.#scope.nextId() } as const;
    const call = new ClientCall(own, new Uint8Array(), clock.now(), () => effect);
    call.input = input;
    call.refusal = noMore;
    const retry = { ...settings.policy.retry, maxAttempts: 1 };
    const limits = { idleMs: longMs, attemptMs: longMs, overallMs: longMs };
    const row = this.#path.start(call, { ...this.#settings.of(call), ...limits, retry, isPart: true }, settled);
    if (row.waiting !== 'reconciling') this.#path.end(row, noMore);
    else if (key !== undefined) this.#asking.set(key, row);
    return row;
  }

  #told({ id, call, createdAt, ttlMs }: KeptTask, status: string): object {
    const lastUpdatedAt = new Date(this.#scope.clock.wallNow()).toISOString();
    const about = { resultType: call.modern ? 'complete' : undefined, taskId: id, status, createdAt, lastUpdatedAt };
    return { ...about, ...(call.modern ? { ttlMs, pollIntervalMs: pollMs } : { ttl: ttlMs, pollInterval: pollMs }) };
  }
}

const refused = (why: string): object => ({ error: { code: rpcErrors.invalidParams, message: `Task: ${why}` } });

const calledOff: FailureFacts = { kind: 'cancelled', message: 'The client cancelled its task', outcome: 'cancelled' };
/** No word on the work. */
const leftAlone: FailureFacts = { ...calledOff, message: 'Nobody waits for the result', cause: 'timed out' };
const noMore: FailureFacts = {
  ...{ kind: 'unknown', outcome: 'unknown', breaker: 'ignored', alerts: false },
  message: 'Its work ended without an answer, or an equal call was given that',
};

/** Key of what a call asks for; its own where that is no JSON. */
const keyOf = ({ tool, request, input }: ClientCall): string => canonicalJson([tool, input ?? {}]) ?? request.key;

/** The end of a task, as the members of an answer. */
function endOf({ id, call, ttlMs }: KeptTask, outcome: Outcome<McpAnswer>): object {
  const failed = (message: string): object => ({ error: { code: rpcErrors.internal, message } });
  if (!outcome.ok) return failed(syntheticResult(outcome.failure, ttlMs).error);
  const { result, error } = outcome.value;
  if (error !== undefined) return { error };
  const { resultType = 'complete', _meta, ...own } = fieldsOf(result);
  if (resultType !== 'complete') return failed('It asks for something: make the same call again');
  if (call.modern) return { result: { ...fieldsOf(result), resultType } };
  return { result: { ...own, _meta: { ...fieldsOf(_meta), 'io.modelcontextprotocol/related-task': { taskId: id } } } };
}
