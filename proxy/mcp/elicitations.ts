import { questionText, type Question } from '../../src/policy/records/face.ts';
import type { Timer } from '../../src/policy/face.ts';
import { type McpId, type McpParams, type McpRequest, fieldsOf } from '../../src/protocol/mcp/face.ts';
import { rpcLine } from '../../src/protocol/face.ts';
import { elicitationAsking, elicitationResult } from '../../src/integrations/mcp/face.ts';
import { withParamText } from '../wire/rewrite.ts';
import type { ClientCall } from './clientCall.ts';
import type { ProxyScope } from './proxyScope.ts';

/** Time within which no person can have read a question, in ms: a client that dismisses it by then has nobody to ask. */
const unreadMs = 2000;
/** Time between two words to the client that a person is asked, in ms: below the limit of any client. */
const beatMs = 5000;

/** An elicitation of the server, for as long as somebody waits for it. */
interface Elicitation {
  readonly serverId: McpId;
  readonly params: McpParams;
  /** Monotonic, in ms. */
  readonly at: number;
  readonly over: AbortController;
}

/** Elicitations of a server whose client has nobody to ask, put to people in the inbox, where one is on (G-17). */
export class Elicitations {
  readonly #scope: ProxyScope;
  readonly #calls: () => Iterable<ClientCall>;
  readonly #open = new Set<Question>();
  /** The calls of which one has it asked, of each that is open. */
  readonly #askedFor = new Map<Elicitation, readonly ClientCall[]>();
  #clientAsks = true;
  #timer: Timer | undefined = undefined;

  /** @param calls - the requests of the client whose work goes on. */
  constructor(scope: ProxyScope, calls: () => Iterable<ClientCall>) {
    this.#scope = scope;
    this.#calls = calls;
  }

  /** A client shakes hands: a server that asks only clients that can ask people is told that this one can. */
  offered(request: McpRequest, line: Uint8Array): readonly [McpRequest, Uint8Array] {
    const { runtime, session } = this.#scope;
    if (request.method !== 'initialize' || runtime.inbox === undefined || session === undefined) return [request, line];
    const capabilities = fieldsOf(request.params['capabilities']);
    this.#clientAsks = capabilities['elicitation'] !== undefined;
    if (this.#clientAsks) return [request, line];
    const params = { ...request.params, capabilities: { ...capabilities, elicitation: {} } };
    const text = Buffer.from(line).toString('utf8');
    return [{ ...request, params }, Buffer.from(withParamText(text, ['capabilities', 'elicitation'], {}))];
  }

  /** Tells whether an elicitation is for the inbox. @param answer - of the client; undefined before it was shown there. */
  takes(method: string, at: number, answer?: { readonly result?: McpParams | undefined; readonly error?: unknown }) {
    const { runtime, clock } = this.#scope;
    if (method !== 'elicitation/create' || runtime.inbox === undefined) return false;
    if (answer === undefined) return !this.#clientAsks;
    const isDismissed = answer.result?.['action'] === 'cancel' && clock.now() - at < unreadMs;
    return isDismissed || answer.error !== undefined;
  }

  /** Asks people, and answers the server in their place. Never rejects. @param ended - told once nobody waits for it any more. */
  async ask(elicitation: Elicitation, ended: () => void): Promise<void> {
    const { serverId, params, over } = elicitation;
    const { runtime, name, session, wire } = this.#scope;
    this.#askedFor.set(elicitation, this.#toolCalls());
    let question: Question | undefined;
    const asked = await runtime.inbox?.ask({
      ...elicitationAsking(name, params),
      ...{ session, signal: over.signal },
      kept: (each) => {
        question = each;
        this.#open.add(each);
        this.#beat();
      },
    });
    if (question !== undefined) this.#open.delete(question);
    this.#askedFor.delete(elicitation);
    ended();
    if (over.signal.reason === callEnded) wire?.relay.write(rpcLine({ id: serverId, result: { action: 'cancel' } }));
    if (asked === undefined || asked.end === 'withdrawn' || asked.end === 'left') return;
    const calls = this.#toolCalls();
    // Of several calls nobody knows which one it was asked for.
    if (calls.length === 1) for (const call of calls) call.asked = asked.text;
    wire?.relay.write(rpcLine({ id: serverId, result: elicitationResult(asked, params) }));
  }

  /** A call may have ended: a question whose calls have all ended is withdrawn. */
  readonly check = (): void => {
    const calls = new Set(this.#calls());
    for (const [{ over }, askedFor] of this.#askedFor)
      if (askedFor.length > 0 && !askedFor.some((call) => calls.has(call))) over.abort(callEnded);
  };

  #toolCalls(): readonly ClientCall[] {
    return [...this.#calls()].filter(({ tool }) => tool !== undefined);
  }

  stop(): void {
    this.#scope.clock.clearTimeout(this.#timer);
  }

  /** Tells of the questions those who wait: their call takes as long as the person. */
  readonly #beat = (): void => {
    const { clock, outlet } = this.#scope;
    clock.clearTimeout(this.#timer);
    this.check();
    const [first] = this.#open;
    if (first === undefined) return;
    for (const call of this.#calls()) {
      call.context?.extend?.(beatMs);
      const line = call.progressLine(questionText(first));
      if (line !== undefined) outlet.write(line);
    }
    this.#timer = clock.setTimeout(this.#beat, beatMs);
  };
}

/** Why a question is withdrawn: nobody waits for what it was asked for. */
const callEnded = 'its call has ended';
