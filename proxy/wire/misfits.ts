import { errorAnswer, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpMessage,
  type McpRequest,
  doubledMember,
  memberCounts,
  memberSpan,
} from '../../src/protocol/mcp/face.ts';

/** Methods that are requests by the protocol: without an id they could be neither refused nor answered, nor have a limit. */
const requests =
  /^(?:initialize|ping)$|^(?:tools|prompts|resources|completion|logging|tasks|server|subscriptions|roots|sampling|elicitation)\//;
const noMessage = 'Invalid Request: this is no message of JSON-RPC, or has an id that is neither a string nor a number';
const noName = 'Invalid params: the name of a tool is a string';

/** Methods that are told of, once each; a client may make up more. */
const mostSaid = 100;

/** Messages of a client that no server is to have: what a server may carry out, and the proxy can neither judge nor answer. */
export class Misfits {
  readonly #said = new Set<string>();
  readonly #answer: (line: string) => void;
  readonly #say: (line: string) => void;

  constructor(answer: (line: string) => void, say: (line: string) => void) {
    this.#answer = answer;
    this.#say = say;
  }

  /** Keeps a message back that is one: it is answered, or told of where nothing answers it. @param text - it as it was written. @returns whether it is. */
  keeps(message: McpMessage, text: string): boolean {
    const { kind } = message;
    if (kind === 'foreign') this.#answer(errorAnswer(null, rpcErrors.invalidRequest, noMessage));
    else if (kind === 'notification' && requests.test(message.method)) this.#drop(message.method, 'without an id');
    else if (isNameless(message)) this.#answer(errorAnswer(message.id, rpcErrors.invalidParams, noName));
    else return (kind === 'request' || kind === 'notification') && this.#isDoubled(message, text);
    return true;
  }

  /** It is judged as JSON.parse reads it, by the last of two members, and a server may read the first. */
  #isDoubled(message: McpMessage & { readonly kind: 'request' | 'notification' }, text: string): boolean {
    if (isPlain(message, text)) return false;
    const name = doubledMember(text) ?? doubledMember(text, memberSpan(text, 'params')?.start ?? text.length);
    if (name === undefined) return false;
    const member = JSON.stringify(name.slice(0, 100));
    const reason = `Invalid Request: it has the member ${member} twice, and a server may read the other one`;
    if (message.kind === 'notification') this.#drop(message.method, `with the member ${member} twice`);
    else this.#answer(errorAnswer(message.id, rpcErrors.invalidRequest, reason));
    return true;
  }

  #drop(method: string, how: string): void {
    if (this.#said.has(method) || this.#said.size >= mostSaid) return;
    this.#said.add(method);
    this.#say(`The client sent ${JSON.stringify(method.slice(0, 100))} ${how}: it was not passed on`);
  }
}

/** Members of the messages that come most often. */
const usual = { own: new Set(['jsonrpc', 'id', 'method', 'params']), inner: new Set(['name', 'arguments', '_meta']) };

/** Tells without a look at each name that nothing is twice: as many members are written as were read, and none of an unusual name. */
function isPlain({ whole, params }: { readonly whole?: object | undefined; readonly params: object }, text: string) {
  const [own, inner] = memberCounts(text, 'params');
  return own === usualMembers(whole ?? {}, usual.own) && inner === usualMembers(params, usual.inner);
}

function usualMembers(fields: object, names: ReadonlySet<string>): number {
  let count = 0;
  for (const name in fields) {
    if (!names.has(name)) return -1;
    count++;
  }
  return count;
}

const isNameless = (message: McpMessage): message is McpRequest =>
  message.kind === 'request' && message.method === 'tools/call' && typeof message.params['name'] !== 'string';
