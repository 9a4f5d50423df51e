import { spawn } from 'node:child_process';
import type { Clock } from '../../src/policy/face.ts';
import {
  type RpcMessage,
  type RpcRequest,
  errorAnswer,
  parseRpc,
  rpcErrors,
  rpcLine,
} from '../../src/protocol/face.ts';
import { createFaultsPicker } from '../mcpAnswerFaults.ts';
import { seededRandom } from '../random.ts';
import type { ReadAcpFault, ReadAcpRule } from './acpFaults.ts';
import { AcpMemory, type AcpUpdate } from './acpMemory.ts';
import {
  type AcpAnswer,
  type AcpExchange,
  type AcpStage,
  ask,
  chunk,
  isLive,
  newExchange,
  playStep,
} from './acpTurn.ts';
import type { AcpScript } from './acpScript.ts';

/** End of an agent: a code, or the signal that it died of. */
export type AcpExit = { readonly code: number } | { readonly signal: string };

/** World of an agent: a process of its own, or streams within this one. */
export interface AcpWorld {
  readonly clock: Pick<Clock, 'setTimeout'>;
  /** Writes to stdout. */
  write(text: string): void;
  /** Writes to stderr. */
  warn(text: string): void;
  exit(end: AcpExit): void;
  /** Hears nothing more. */
  block(): void;
}

type Params = Readonly<Record<string, unknown>>;

/** Occasion for a fault. */
type Occasion = Readonly<Record<'method' | 'at' | 'text', string>>;

const cancelled: AcpAnswer = { result: { stopReason: 'cancelled' } };

/** The agent's side of a conversation, by its script. */
export class AcpPeer implements AcpStage {
  readonly #script: AcpScript;
  readonly #world: AcpWorld;
  readonly #memory: AcpMemory;
  readonly #pick: (message: Occasion) => readonly ReadAcpRule[];
  /** Prompts of each session that have no answer yet; the first is under way. */
  readonly #turns = new Map<string, AcpExchange[]>();
  readonly #asked = new Map<unknown, (reply: RpcMessage) => void>();
  #client: AcpStage['client'] | undefined;
  #requests = 0;
  #tools = 0;
  #stdinEnded = false;

  constructor(script: AcpScript, world: AcpWorld) {
    this.#script = script;
    this.#world = world;
    this.#memory = new AcpMemory(script.stateFile);
    const random = seededRandom(script.seed);
    this.#pick = createFaultsPicker<ReadAcpRule, Occasion>(
      script.faults,
      ({ on = 'session/prompt', at = 'before', prompt = '' }, message) =>
        message.method === on && message.at === at && message.text.includes(prompt),
      ({ start = this.#memory.start, chance = 1 }) => [start].flat().includes(this.#memory.start) && random() < chance,
    );
  }

  get announcesTools(): boolean {
    return this.#script.announcesTools;
  }

  get client(): AcpStage['client'] {
    return this.#client ?? {};
  }

  toolId(title: string): string {
    return `${title}-${this.#memory.start}.${++this.#tools}`;
  }

  tell(turn: AcpExchange, update: AcpUpdate): void {
    if (isLive(turn)) this.#update(turn.session, update);
  }

  async reach(turn: AcpExchange, point: string): Promise<void> {
    if (!isLive(turn) || turn.reached.has(point)) return;
    turn.reached.add(point);
    await this.#befall(turn, turn.method, point);
  }

  sleep(ms: number): Promise<void> {
    return ms > 0 ? new Promise((done) => void this.#world.clock.setTimeout(done, ms)) : Promise.resolve();
  }

  end(turn: AcpExchange, stopReason: string): void {
    this.#respond(turn, { result: { stopReason } });
  }

  /** The agent has started. */
  started(): void {
    void this.#befall(newExchange('start', undefined, ''), 'start');
  }

  /** A line of the client. */
  receive(line: string): void {
    const message = parseRpc(line);
    switch (message.kind) {
      case 'request':
        void this.#take(message);
        return;
      case 'notification':
        void this.#hear(message.method, message.params as Params | undefined);
        return;
      case 'garbage':
        this.#world.write(errorAnswer(message.id, message.code, message.reason));
        return;
      case 'result':
      case 'error':
        this.#asked.get(message.id)?.(message);
    }
  }

  stdinEnded(): void {
    this.#stdinEnded = true;
    this.#leave();
  }

  #leave(): void {
    const { stdinEnd } = this.#script;
    const isBusy = [...this.#turns.values()].some(({ length }) => length > 0);
    if (!this.#stdinEnded || stdinEnd === 'stay' || (stdinEnd === 'exit_when_idle' && isBusy)) return;
    this.#world.exit({ code: 0 });
  }

  async request(turn: AcpExchange, method: string, params: object): Promise<Params | undefined> {
    const count = this.#requests++;
    const id = this.#script.ids === 'numbers' ? count : `agent-${count}`;
    const reply = new Promise<RpcMessage>((done) => void this.#asked.set(id, done));
    turn.waits.add(reply);
    this.#world.write(rpcLine({ id, method, params: { sessionId: turn.session, ...params } }));
    const message = await reply;
    turn.waits.delete(reply);
    return message.kind === 'result' ? (message.result as Params) : undefined;
  }

  async #take({ id, method, params }: RpcRequest): Promise<void> {
    const given = (params ?? {}) as Params;
    if (method === 'session/prompt' && this.#memory.has(given['sessionId'])) {
      this.#prompt(newExchange(method, id, given['sessionId'], textOf(given['prompt'])));
      return;
    }
    const exchange = newExchange(method, id, String(given['sessionId']));
    if (!(await this.#befall(exchange, method))) return;
    const answer = this.#answer(method, given);
    if (answer === undefined) return;
    if (method === 'session/load' && 'result' in answer) this.#load(exchange, answer);
    else this.#respond(exchange, answer);
  }

  #answer(method: string, params: Params): AcpAnswer | undefined {
    const { beforeInitialize, loadSession, resume, protocolVersion } = this.#script;
    if (this.#client === undefined && method.startsWith('session/') && beforeInitialize !== 'accept')
      return beforeInitialize === 'refuse' ? failure(rpcErrors.invalidRequest, 'Not initialized') : undefined;
    switch (method) {
      case 'initialize':
        this.#client = (params['clientCapabilities'] ?? {}) as AcpStage['client'];
        return {
          result: {
            protocolVersion,
            agentCapabilities: { loadSession, ...(resume && { sessionCapabilities: { resume: {} } }) },
            agentInfo: { name: this.#script.name, version: '1.0.0' },
            authMethods: [],
          },
        };
      case 'authenticate':
      case 'session/set_mode':
        return { result: {} };
      case 'session/new':
        return { result: { sessionId: this.#memory.open() } };
      case 'session/load':
      case 'session/resume':
        if (!(method === 'session/load' ? loadSession : resume)) break;
        if (this.#memory.has(params['sessionId'])) return { result: {} };
        return failure(-32_002, `Resource not found: ${String(params['sessionId'])}`);
      case 'session/prompt':
        return failure(rpcErrors.invalidParams, `Unknown session: ${String(params['sessionId'])}`);
    }
    return failure(rpcErrors.methodNotFound, `Method not found: ${method}`);
  }

  /** Tells the history of a session, all of it but what the script says is lost. */
  #load(exchange: AcpExchange, answer: AcpAnswer): void {
    const { replay, loses } = this.#script;
    const all = this.#memory.history(exchange.session);
    const isUser = ({ sessionUpdate }: AcpUpdate): boolean => sessionUpdate === 'user_message_chunk';
    const last = all.findLastIndex(isUser);
    const kept = all.filter(
      (each, index) => isUser(each) || loses === 'nothing' || (loses === 'last_answer' && index < last),
    );
    const before = replay === 'before' ? kept.length : replay === 'after' ? 0 : kept.length >> 1;
    for (const update of kept.slice(0, before)) this.#send(exchange.session, update);
    this.#respond(exchange, answer);
    for (const update of kept.slice(before)) this.#send(exchange.session, update);
  }

  async #hear(method: string, params: Params = {}): Promise<void> {
    const session = String(params['sessionId']);
    const turns = method === 'session/cancel' ? [...(this.#turns.get(session) ?? [])] : [];
    const [first] = turns;
    if (!(await this.#befall(first ?? newExchange(method, undefined, session), method))) return;
    if (this.#script.cancelWaitsForReply && first !== undefined) await Promise.all(first.waits);
    for (const turn of turns) this.#respond(turn, cancelled);
  }

  #prompt(turn: AcpExchange): void {
    const turns = this.#turns.get(turn.session) ?? [];
    this.#turns.set(turn.session, turns);
    const [first] = turns;
    const { busy } = this.#script;
    if (first !== undefined && busy === 'refuse') {
      this.#respond(turn, failure(rpcErrors.invalidParams, 'The session is busy'));
      return;
    }
    turn.onOver = () => {
      const isFirst = turns[0] === turn;
      turns.splice(turns.indexOf(turn), 1);
      if (isFirst && turns[0] !== undefined) void this.#run(turns[0]);
      this.#leave();
    };
    if (first !== undefined && busy === 'end_first') this.#respond(first, cancelled);
    turns.push(turn);
    if (first !== undefined && busy === 'end_both')
      for (const each of [turn, first]) this.#respond(each, { result: { stopReason: 'end_turn' } });
    else if (turns.length === 1) void this.#run(turn);
  }

  async #run(turn: AcpExchange): Promise<void> {
    this.#memory.keep(turn.session, chunk('user_message_chunk', turn.text));
    await this.#befall(turn, turn.method);
    for (const step of turn.text.split(/[;\n]/)) {
      if (!isLive(turn)) return;
      await playStep(this, turn, step.trim());
    }
    this.tell(turn, { sessionUpdate: 'usage_update', used: turn.text.length, size: 200_000 });
    if (isLive(turn) && (await this.#befall(turn, turn.method, 'end')) && isLive(turn)) this.end(turn, 'end_turn');
  }

  /** Acts of all rules that match, up to one that ends the message. @returns whether it goes on as it should. */
  async #befall(exchange: AcpExchange, method: string, at = 'before'): Promise<boolean> {
    for (const fault of this.#pick({ method, at, text: exchange.text })) {
      if (await this.#act(fault, exchange, method)) continue;
      // A cancel that is passed over leaves the turn as it was.
      if (method === exchange.method || fault.do === 'late') exchange.stands = true;
      return false;
    }
    return true;
  }

  async #act(fault: ReadAcpFault, exchange: AcpExchange, method: string): Promise<boolean> {
    const { session } = exchange;
    const world = this.#world;
    switch (fault.do) {
      case 'hang':
        if (fault.scope === 'agent' || method === 'start') world.block();
        return false;
      case 'crash':
        if (fault.when === undefined || fault.when === 'before') {
          this.#crash(fault);
          return false;
        }
        exchange.ending = (line) => {
          if (fault.when === 'half') world.write(line.slice(0, line.length / 2));
          else world.write(fault.when === 'after' ? line : line.slice(0, -1));
          this.#crash(fault);
        };
        return true;
      case 'stop':
        if (fault.text !== undefined) this.#update(session, chunk('agent_message_chunk', fault.text));
        this.#respond(exchange, { result: { stopReason: fault.reason ?? 'end_turn' } });
        return false;
      case 'error': {
        const { code = rpcErrors.internal, message = 'Internal error', data } = fault;
        this.#respond(exchange, { error: { code, message, data } });
        return false;
      }
      case 'malformed':
        this.#respond(exchange, { result: 'no result' });
        return false;
      case 'late': {
        const { updates = 3, answer = 'before' } = fault;
        if (answer === 'before') this.#respond(exchange, cancelled);
        else exchange.stands = true;
        for (let count = 1; count <= updates; count++) {
          await new Promise((done) => void setImmediate(done));
          this.#update(session, chunk('agent_message_chunk', `late ${count}`));
        }
        if (answer === 'after') this.#respond(exchange, cancelled);
        return false;
      }
      case 'ask': {
        const asked = ask(this, exchange, 'tool');
        if (fault.then === 'crash') this.#crash({});
        if (fault.then !== 'go_on') await asked;
        return fault.then !== 'hang' && fault.then !== 'crash';
      }
      case 'child':
        this.#update(session, chunk('agent_message_chunk', `child ${leaveChild(fault)}`));
        break;
      case 'noise':
        world.write(`${fault.text ?? 'Loading model...'}${fault.newline === false ? '' : '\n'}`);
        break;
      case 'flood':
        for (let left = fault.updates ?? 1; left > 0; left--)
          this.#update(session, chunk('agent_message_chunk', 'x'.repeat(fault.bytes ?? 10)));
        break;
      case 'strange':
        if (fault.what === 'update') this.#send(session, { sessionUpdate: 'strange_update', strange: true });
        else if (fault.what === 'request') void this.request(exchange, 'strange/request', {});
        else world.write(rpcLine({ method: 'strange/notification', params: { sessionId: session } }));
        break;
      case 'slow':
        await this.sleep(fault.ms);
        break;
      case 'repeat':
        exchange.repeat = fault.times;
        break;
      case 'duplicate_answer':
        exchange.copies = 2;
        break;
      case 'wrong_id':
        exchange.answersAs = 'nobody-asked';
    }
    return true;
  }

  #respond(exchange: AcpExchange, answer: AcpAnswer): void {
    if (exchange.isOver || exchange.id === undefined) return;
    exchange.isOver = true;
    const line = rpcLine({ id: exchange.answersAs ?? exchange.id, ...answer });
    if (exchange.ending === undefined) this.#world.write(line.repeat(exchange.copies));
    else exchange.ending(line);
    exchange.onOver?.();
  }

  #crash({ exitCode = 1, signal, stderr }: { exitCode?: number; signal?: string; stderr?: string }): void {
    if (stderr !== undefined) this.#world.warn(stderr);
    this.#world.exit(signal === undefined ? { code: exitCode } : { signal });
  }

  /** Sends an update that belongs to the history. */
  #update(session: string, update: AcpUpdate): void {
    this.#memory.keep(session, update);
    this.#send(session, update);
  }

  #send(sessionId: string, update: AcpUpdate): void {
    this.#world.write(rpcLine({ method: 'session/update', params: { sessionId, update } }));
  }
}

function failure(code: number, message: string): AcpAnswer {
  return { error: { code, message } };
}

function textOf(prompt: unknown): string {
  const blocks = Array.isArray(prompt) ? (prompt as { readonly type?: string; readonly text?: string }[]) : [];
  return blocks.map(({ text }) => text ?? '').join('\n');
}

function leaveChild({ holdsOutput = false, detached = false }): number | undefined {
  const stdout = holdsOutput ? 'inherit' : 'ignore';
  const program = 'setTimeout(() => undefined, 600_000)';
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', stdout, 'ignore'], detached });
  child.unref();
  return child.pid;
}
