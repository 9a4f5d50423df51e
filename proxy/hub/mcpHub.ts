import { randomUUID } from 'node:crypto';
import type { ClientStreams } from '../wire/serverLines.ts';
import { type McpClientPipe, startMcpClientPipe } from '../wire/mcpClientPipe.ts';
import { Misfits } from '../wire/misfits.ts';
import { type Clock, inTime } from '../../src/policy/face.ts';
import { passingLimits, SpinningWatch } from '../../src/policy/spinning/face.ts';
import { errorAnswer, notificationLine, rpcErrors } from '../../src/protocol/face.ts';
import {
  type McpMessage,
  type McpNotification,
  type McpRequest,
  changedMethod,
  fieldsOf,
  idKey,
  isModern,
  memberSpan,
  messagesOf,
  readMessage,
  subscriptionField,
  taskIn,
  wantsChanges,
  withId,
} from '../../src/protocol/mcp/face.ts';
import { withMember, withParamText, withRequestId } from '../wire/rewrite.ts';
import { errorAnswerOf, resultAnswer } from '../wire/syntheticAnswer.ts';
import { HubGreeting, hasTasks, metaOf } from './hubGreeting.ts';
import { HubLists, isList, type ListMethod } from './hubLists.ts';
import { HubMember, type HubServer } from './hubMember.ts';
import { type LeftOut, leftOutText, type Named, separator } from './hubNames.ts';
import { HubQuestions } from './hubQuestions.ts';
import { notPassedOn } from './notPassedOn.ts';

interface McpHubOptions extends Pick<ClientStreams, 'input' | 'output'> {
  readonly clock: Clock;
  /** In the order in which they are listed. */
  readonly servers: readonly HubServer[];
  readonly say: (line: string) => void;
  /** Receives what of a server is not listed, besides that it is said. */
  readonly leftOut: (left: LeftOut) => void;
  /** Our version, for the client. */
  readonly version: string;
}

/** Time that a request may wait for a server that has not come up yet, in ms: it may be sent again, and a package may take minutes to be fetched. */
const comingUpMs = 20_000;
const maxLineBytes = 64 * 1024 * 1024;
const mostTasks = 10_000;

/** Several servers behind one client: to the client they are one, whose names begin with theirs. */
export class McpHub {
  /** Resolves when the client has ended its side, and all servers have ended. */
  readonly ended: Promise<void>;
  readonly #options: McpHubOptions;
  readonly #members: readonly HubMember[];
  readonly #greeting: HubGreeting;
  readonly #lists: HubLists;
  readonly #questions = new HubQuestions();
  /** Whose a task is, by its id, which is that of its server; of more than `mostTasks` the oldest are forgotten. */
  readonly #taskOwners = new Map<string, HubMember>();
  readonly #pipe: McpClientPipe;
  readonly #misfits: Misfits;
  /** Server that answers a request of the client, by the key of its id; undefined when the hub does. */
  readonly #asked = new Map<string, HubMember | undefined>();
  /** Who answered the latest, by their keys: a cancel may cross the answer. */
  readonly #answered = new Map<string, HubMember>();
  #lastId = 0;
  #room: (() => void)[] = [];
  #hasEnded = (): void => undefined;

  constructor(options: McpHubOptions) {
    const { clock, input, output, servers, say, leftOut, version } = options;
    this.#options = options;
    this.#misfits = new Misfits((line) => this.#write(line), say);
    this.ended = new Promise((resolve) => (this.#hasEnded = resolve));
    // What one server does may be what another one waited for: they have one.
    const watch = new SpinningWatch(passingLimits);
    const owner = randomUUID();
    const host = {
      ...{ clock, say },
      nextId: () => this.#nextId(),
      heard: (member: HubMember, message: McpMessage, text: string) => this.#heard(member, message, text),
      joined: (member: HubMember) => this.#joined(member),
      room: () => this.#roomForMore(),
    };
    this.#members = servers.map(({ name, open }) => {
      const client = { watch, nameOf: (tool: string) => `${name}${separator}${tool}`, owner };
      return new HubMember({ name, open: (streams) => open({ ...streams, client }) }, host);
    });
    this.#greeting = new HubGreeting(clock, this.#members, version, say);
    this.#lists = new HubLists({
      clock,
      leftOut: (left) => {
        say(leftOutText(left));
        leftOut(left);
      },
      members: this.#members,
      changed: (list) => this.#changed([list]),
    });
    this.#pipe = startMcpClientPipe({
      input,
      output,
      maxLineBytes,
      begin: () => undefined,
      end: () => undefined,
      line: (line) => this.#take(line.toString('utf8').trimEnd()),
      tooLong: () =>
        this.#write(errorAnswer(null, rpcErrors.invalidRequest, 'This message is too long to be passed on')),
      ended: () => void this.#end(),
      fullChanged: (full) => {
        if (!full) for (const resolve of this.#room.splice(0)) resolve();
      },
    });
  }

  #take(text: string): void {
    for (const { item, own } of messagesOf(readMessage(text), text)) this.#takeOne(item, own);
  }

  /** A batch within a batch is no message. */
  #takeOne(message: McpMessage, text: string): void {
    if (this.#misfits.keeps(message, text)) return;
    if (message.kind === 'request') this.#request(message, text);
    else if (message.kind === 'notification') this.#notification(message, text);
    else if (message.kind === 'answer' && message.key !== undefined) {
      const asked = this.#questions.answered(message.key);
      asked?.member.send(withId(text, asked.id));
    } else if (message.kind === 'garbage' && text !== '') {
      this.#write(errorAnswer(null, rpcErrors.parse, 'Parse error: this line is not JSON'));
    }
  }

  #request(request: McpRequest, text: string): void {
    const { method, params } = request;
    if (isList(method)) this.#own(request, () => this.#list(request, method));
    else if (method === 'initialize') this.#own(request, () => this.#greeting.initialize(request));
    else if (method === 'server/discover') this.#own(request, () => this.#greeting.discover(request));
    else if (method === 'logging/setLevel') this.#own(request, () => this.#greeting.setLevel(request));
    else if (method === 'ping') this.#write(resultAnswer(request.id, {}));
    else if (method === 'subscriptions/listen') this.#listen(request, text);
    else if (method === 'tools/call')
      this.#named(request, text, this.#lists.tools.find(String(params['name']), this.#members));
    else if (method === 'prompts/get')
      this.#named(request, text, this.#lists.prompts.find(String(params['name']), this.#members));
    else if (method === 'completion/complete') this.#complete(request, text);
    else if (/^tasks\/(get|result|update|cancel)$/.test(method)) this.#task(request, text);
    else if (method.startsWith('resources/')) void this.#resource(request, text, params['uri']);
    else this.#own(request, () => this.#askEach(request));
  }

  /** Has the hub answer a request by itself; an answer that is not wanted any more is not given. */
  #own({ id, key }: McpRequest, answer: () => Promise<string>): void {
    this.#asked.set(key, undefined);
    const give = (line: string): void => {
      if (this.#asked.delete(key)) this.#write(line);
    };
    answer().then(give, () => give(errorAnswer(id, rpcErrors.internal, 'Internal error')));
  }

  async #list({ id, params }: McpRequest, method: ListMethod): Promise<string> {
    const modern = isModern(params);
    if (modern && !this.#greeting.isDone) await this.#greeting.introduce(params);
    const items = await this.#lists.list(method, modern ? metaOf(params) : {});
    const ofEra = modern
      ? { resultType: 'complete', ...this.#lists.freshness(method), ...this.#greeting.signature }
      : {};
    const members = JSON.stringify(ofEra).slice(1, -1);
    return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{${members}${modern ? ',' : ''}${items}}}\n`;
  }

  /** Every server listens; what they tell goes by the id that the client gave. */
  #listen(request: McpRequest, given: string): void {
    // Ids may be secrets: no server hears those of another. Who would hear of tasks asks for them as well.
    const { taskIds } = fieldsOf(request.params['notifications']);
    const text = taskIds === undefined ? given : withParamText(given, ['notifications', 'taskIds'], []);
    const members = this.#members.filter((member) => member.info !== undefined && member.send(text));
    this.#questions.listens(request, text, members);
    if (members.length === 0) this.#write(errorAnswer(request.id, rpcErrors.internal, 'No server answers for now'));
  }

  #named(request: McpRequest, text: string, named: Named | undefined): void {
    const { id } = request;
    const params = memberSpan(text, 'params');
    if (named === undefined || params === undefined) {
      const names = this.#members.map(({ name }) => name).join(', ');
      this.#write(
        errorAnswer(id, rpcErrors.invalidParams, `No server has this; names begin with that of their server: ${names}`),
      );
      return;
    }
    this.#pass(named.member, request, withMember(text, 'name', named.own, params.start));
  }

  /** Has a request that only servers know, as of an extension, answered by the first of them that knows it. */
  async #askEach({ id, method, params }: McpRequest): Promise<string> {
    // A list of tasks would be that of one server.
    const asked = method.startsWith('tasks/') ? [] : this.#members.filter(({ info }) => info !== undefined);
    for (const member of asked) {
      const { answer, text } = await member.ask(method, params);
      if (answer.error?.['code'] !== rpcErrors.methodNotFound)
        return answer.error === undefined ? `${withId(text, id)}\n` : errorAnswerOf(id, answer.error);
    }
    return errorAnswer(id, rpcErrors.methodNotFound, `Method not found: ${method}`);
  }

  /** Passes on what is asked of a task. An id may be a secret: one that is not known is shown to nobody, unless one server alone has tasks. */
  #task(request: McpRequest, text: string): void {
    const having = this.#members.filter(hasTasks);
    const only = having.length === 1 ? having[0] : undefined;
    const member = this.#taskOwners.get(String(request.params['taskId'])) ?? only;
    if (member !== undefined) this.#pass(member, request, text);
    else this.#write(errorAnswer(request.id, rpcErrors.invalidParams, 'Task not found: no server here began it'));
  }

  #complete(request: McpRequest, text: string): void {
    const { name, uri } = fieldsOf(request.params['ref']);
    const params = memberSpan(text, 'params');
    const ref = params === undefined ? undefined : memberSpan(text, 'ref', params.start);
    const named = typeof name === 'string' ? this.#lists.prompts.find(name, this.#members) : undefined;
    if (named === undefined || ref === undefined) void this.#resource(request, text, uri);
    else this.#pass(named.member, request, withMember(text, 'name', named.own, ref.start));
  }

  async #resource(request: McpRequest, text: string, uri: unknown): Promise<void> {
    const { id, key } = request;
    this.#asked.set(key, undefined);
    const member = typeof uri === 'string' ? await this.#lists.ownerOf(uri) : undefined;
    // Called off meanwhile.
    if (!this.#asked.delete(key)) return;
    if (member !== undefined) this.#pass(member, request, text);
    else this.#write(errorAnswer(id, -32_002, 'No server has this resource', { uri }));
  }

  /** Passes a request on, to a server that took the handshake: one that did not would refuse it, or keep it for ever. */
  #pass(member: HubMember, request: McpRequest, text: string): void {
    if (member.info === undefined && !isModern(request.params)) void this.#passLater(member, request, text);
    else this.#forward(member, request, text);
  }

  async #passLater(member: HubMember, request: McpRequest, text: string): Promise<void> {
    const { clock } = this.#options;
    const since = clock.now();
    this.#asked.set(request.key, undefined);
    const why = await inTime(member.comesUp(), { clock, limitMs: comingUpMs });
    // Called off meanwhile.
    if (!this.#asked.delete(request.key)) return;
    if (why === 'up') this.#forward(member, request, text);
    else this.#write(notPassedOn(request, member.name, why, clock.now() - since));
  }

  #forward(member: HubMember, { id, key }: McpRequest, text: string): void {
    // The answer of a proxy may come while it is sent.
    this.#asked.set(key, member);
    if (member.send(text) || !this.#asked.delete(key)) return;
    const message = `${member.name} has too much to read already; this was not passed on`;
    this.#write(errorAnswer(id, rpcErrors.internal, message));
  }

  #notification({ method, params }: McpNotification, text: string): void {
    if (method === 'notifications/cancelled') {
      const key = idKey(params['requestId']) ?? '';
      (this.#asked.has(key) ? this.#asked : this.#answered).get(key)?.send(text);
      for (const member of this.#questions.unlisten(key)) member.send(text);
      this.#asked.delete(key);
    } else if (method === 'notifications/initialized') {
      for (const member of this.#members) member.clientReady();
    } else for (const member of this.#members) if (member.info !== undefined) member.send(text);
  }

  #heard(member: HubMember, message: McpMessage, text: string): void {
    if (message.kind === 'request')
      this.#write(`${withId(text, this.#questions.asked(member, message, this.#nextId()))}\n`);
    else if (message.kind === 'notification') this.#notified(member, message, text);
    else if (message.kind === 'answer' && message.key !== undefined) {
      const isWaited = this.#asked.get(message.key) === member;
      this.#lists.noteLinks(member, message.result?.['content']);
      const task = taskIn(message.result);
      if (task !== undefined) this.#taskOwners.set(task.id, member);
      if (this.#taskOwners.size > mostTasks) this.#taskOwners.delete([...this.#taskOwners.keys()][0] ?? '');
      if (isWaited && this.#asked.delete(message.key)) this.#answered.set(message.key, member);
      if (this.#answered.size > 32) this.#answered.delete([...this.#answered.keys()][0] ?? '');
      if (isWaited || this.#questions.isLastToListen(member, message.key)) this.#write(`${text}\n`);
    }
  }

  #notified(member: HubMember, { method, params }: McpNotification, text: string): void {
    if (method === 'notifications/cancelled') {
      const asked = this.#questions.withdrawn(member, params);
      if (asked !== undefined) this.#write(`${withRequestId(text, asked)}\n`);
    } else if (method !== 'notifications/subscriptions/acknowledged' || this.#questions.isFirstAcknowledged(params)) {
      this.#write(`${text}\n`);
    }
  }

  /** A server takes requests that the client was told nothing of. */
  #joined(member: HubMember): void {
    void this.#greeting.tellLevel(member);
    this.#greeting.compare(member);
    if (!this.#greeting.isDone) return;
    for (const { text, members } of this.#questions.listening) if (member.send(text)) members.add(member);
    this.#changed(['tools/list', 'prompts/list', 'resources/list']);
  }

  /** Lists are not any more what the client was told. Without a handshake it hears only of what it listens to. */
  #changed(lists: readonly ListMethod[]): void {
    if (!this.#greeting.isDone) return;
    for (const list of lists) {
      const method = changedMethod(list) ?? '';
      if (!this.#greeting.isModern) this.#write(notificationLine(method));
      for (const { request } of this.#questions.listening) {
        const { id, params } = request;
        if (wantsChanges(params, list)) this.#write(notificationLine(method, { _meta: { [subscriptionField]: id } }));
      }
    }
  }

  #write(line: string): void {
    this.#pipe.write(line);
  }

  #roomForMore(): Promise<void> | undefined {
    return this.#pipe.isFull ? new Promise((resolve) => this.#room.push(resolve)) : undefined;
  }

  #nextId(): string {
    return `hub-${++this.#lastId}`;
  }

  async #end(): Promise<void> {
    for (const member of this.#members) member.end();
    await Promise.all(this.#members.map(({ closed }) => closed));
    await this.#pipe.flush();
    this.#hasEnded();
  }
}
