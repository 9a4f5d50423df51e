import type { Clock } from '../../src/policy/face.ts';
import {
  type Given,
  type Key,
  type Values,
  anyObject,
  boolean,
  choice,
  duration,
  having,
  integer,
  readOptions,
} from '../../src/policy/options/face.ts';
import type { RpcError, RpcId } from '../../src/protocol/face.ts';
import { realClock } from '../realClock.ts';
import { createFaultsPicker, nthKey, scriptKey, someText } from '../mcpAnswerFaults.ts';
import type { GivenAct, ReadAct } from '../variants.ts';
import { type AcpParams, type AcpPipes, AcpWire, selected, textOf } from './acpWire.ts';

const momentKeys = {
  /** Moment of a prompt: it was sent, its first text or tool came, it asks for a permission, it was answered. @defaultValue 'sent' */
  at: choice(['sent', 'text', 'tool', 'permission', 'answer']),
  /** Choice among the prompts that come to it, from 1. @defaultValue all */
  nth: nthKey,
};

const clientFaults = {
  /** Cancels the prompt, once or more often, at once or later: rightly, but for a cancel after the answer. */
  cancel: {
    /** @defaultValue 1 */
    times: integer(),
    /** @defaultValue at once */
    afterMs: duration(),
  },
  /** Sends a second prompt meanwhile. */
  prompt: {
    text: someText,
    /** Gives it the id of the first. @defaultValue false */
    sameId: boolean(),
  },
  /** Ends the agent's stdin. */
  close_stdin: {},
  /** Reads nothing more, or not for so long. */
  stop_reading: {
    /** @defaultValue for ever */
    ms: duration(),
  },
  /** Writes a line that is no message. */
  garbage: {
    /** @defaultValue 'no message' */
    line: someText,
  },
  /** Sends what no agent knows: `strange/request` or `strange/notification`. */
  strange: { what: choice(['request', 'notification'], { required: true }) },
};

/** Act of a client at a moment of a prompt. */
export type AcpClientFault = GivenAct<typeof clientFaults> & Given<typeof momentKeys>;
type ReadFault = ReadAct<typeof clientFaults> & Values<typeof momentKeys>;

const clientKeys = {
  /** The script; all that match a moment are done, in their order. @defaultValue [] */
  faults: scriptKey(clientFaults, momentKeys) as Key<readonly ReadFault[], readonly AcpClientFault[] | undefined>,
  /**
   * Reply to a permission: what allows or rejects, none until a cancel and then `cancelled`, as is right, none until a cancel and then what allows, or
   * none at all. @defaultValue 'allow'
   */
  permissions: choice(['allow', 'reject', 'at_cancel', 'after_cancel', 'never'], { default: 'allow' }),
  /** Ids of its requests: numbers from 1; numbers and strings of every sort, 0 and the empty one too; or all the same. @defaultValue 'numbers' */
  ids: choice(['numbers', 'mixed', 'same'], { default: 'numbers' }),
  /** What it says that it can do, in `initialize`. @defaultValue {} */
  clientCapabilities: { ...anyObject, required: undefined } as Key<object | undefined>,
  /** Time of its waits. @defaultValue the system's */
  clock: having<Pick<Clock, 'setTimeout'>>('a clock', ['setTimeout']),
};

/** Faults of an ACP client, and what it is like otherwise. */
export interface FaultyAcpClientOptions extends Given<typeof clientKeys> {}

/** End of a prompt as its client saw it. */
export interface AcpPromptEnd {
  readonly stopReason?: string | undefined;
  readonly error?: RpcError | undefined;
  /** The agent's stdout ended first. */
  readonly isClosed?: true | undefined;
  /** The agent's text in it. */
  readonly text: string;
}

interface Prompt {
  readonly id: RpcId;
  readonly session: string;
  readonly asked: string;
  readonly seen: Set<string>;
  text: string;
  isOpen: boolean;
  isCancelled: boolean;
}

const oddIds = [0, '', 'a', -1, Number.MAX_SAFE_INTEGER, 'ü "quoted"'];
/** A text that is told twice is looked for by its beginning, of so many characters at most; shorter ones may be chance. */
const [headLength, shortestHead] = [24, 8];

/**
 * A client that does to an agent, or to a proxy in front of one, what the script says, and judges what it got.
 *
 * @example
 * const { stdin, stdout } = spawn('unwedge', ['acp', '--', 'some-agent']);
 * const client = faultyAcpClient({ stdin, stdout }, { faults: [{ at: 'text', do: 'cancel', times: 2 }] });
 * await client.open();
 * console.log(await client.prompt('Say hello'), client.judge());
 * @throws TypeError or RangeError that names the option and its value.
 */
export function faultyAcpClient(agent: AcpPipes, options: FaultyAcpClientOptions = {}): FaultyAcpClient {
  return new FaultyAcpClient(agent, readOptions('', options, clientKeys));
}

/** A running client; {@link faultyAcpClient} makes one. */
export class FaultyAcpClient {
  readonly #agent: AcpPipes;
  readonly #script: Values<typeof clientKeys>;
  readonly #wire: AcpWire;
  readonly #pick: (message: { readonly at: string }) => readonly ReadFault[];
  readonly #prompts: Prompt[] = [];
  readonly #problems: string[] = [];
  readonly #held: (() => void)[] = [];
  #requests = 0;
  #session = '';
  #hasLeft = false;

  /** @internal */
  constructor(agent: AcpPipes, script: Values<typeof clientKeys>) {
    this.#agent = agent;
    this.#script = script;
    this.#pick = createFaultsPicker(script.faults, ({ at = 'sent' }, message) => message.at === at);
    this.#wire = new AcpWire(agent, {
      onUpdate: (session, update) => this.#update(session, update),
      permit: (session, options) => this.#permit(session, options),
    });
  }

  /** Notifications and requests of the agent so far. */
  get received(): readonly { readonly method: string; readonly params: AcpParams }[] {
    return this.#wire.received;
  }

  /** Sends any request. @returns its result. @throws Error with what the agent answered. */
  async request(method: string, params: object): Promise<AcpParams> {
    const { result, error } = await this.#wire.request(this.#nextId(), method, params);
    if (result === undefined) throw new Error(error?.message ?? `${method} was not answered`);
    return result as AcpParams;
  }

  /** Initializes and makes a session, in which prompts are from now on. @returns its id. */
  async open(cwd = process.cwd()): Promise<string> {
    const clientCapabilities = this.#script.clientCapabilities ?? {};
    await this.request('initialize', { protocolVersion: 1, clientCapabilities });
    this.#session = String((await this.request('session/new', { cwd, mcpServers: [] }))['sessionId']);
    return this.#session;
  }

  /** Loads a session, in which prompts are from now on. */
  async load(sessionId: string, cwd = process.cwd()): Promise<void> {
    this.#session = sessionId;
    await this.request('session/load', { sessionId, cwd, mcpServers: [] });
  }

  /** Sends a prompt. Never rejects. */
  prompt(text: string, session = this.#session): Promise<AcpPromptEnd> {
    return this.#prompt(this.#nextId(), text, session);
  }

  cancel(sessionId = this.#session): void {
    this.#wire.notify('session/cancel', { sessionId });
    for (const prompt of this.#prompts) prompt.isCancelled ||= prompt.session === sessionId;
    for (const reply of this.#held.splice(0)) reply();
  }

  /**
   * Says what was not as it must be, up to now: prompts without exactly one answer, parts of a turn after its end, the same text twice, answers that nobody
   * waited for, lines that are no message. Empty when all is well.
   */
  judge(): readonly string[] {
    const open = this.#hasLeft ? [] : this.#prompts.filter(({ isOpen }) => isOpen);
    const twice = this.#prompts.flatMap((prompt, index) => {
      const head = prompt.text.slice(0, Math.min(headLength, Math.max(shortestHead, prompt.text.length >> 1)));
      if (head.length < shortestHead) return [];
      const others = this.#prompts.slice(index + 1).filter(({ asked }) => asked !== prompt.asked);
      const again = prompt.text.includes(head, 1) || others.some(({ text }) => text.includes(prompt.text));
      return again ? [`the text ${JSON.stringify(head)} came twice`] : [];
    });
    return [
      ...open.map(({ asked }) => `the prompt ${JSON.stringify(asked.slice(0, headLength))} has no answer`),
      ...this.#wire.oddAnswers.map((id) => `an answer to ${JSON.stringify(id)}, which nothing waited for`),
      ...this.#wire.strays.map((line) => `no message: ${line.slice(0, 100)}`),
      ...this.#wire.late.map((kind) => `${kind} after the end of the turn`),
      ...twice,
      ...this.#problems,
    ];
  }

  #nextId(): RpcId {
    const count = this.#requests++;
    if (this.#script.ids === 'same') return 1;
    return (this.#script.ids === 'mixed' ? oddIds[count] : undefined) ?? count + 1;
  }

  async #prompt(id: RpcId, asked: string, session: string): Promise<AcpPromptEnd> {
    const prompt: Prompt = { id, session, asked, seen: new Set(), text: '', isOpen: true, isCancelled: false };
    this.#prompts.push(prompt);
    const params = { sessionId: session, prompt: [{ type: 'text', text: asked }] };
    const replied = this.#wire.request(id, 'session/prompt', params, (reply) => {
      prompt.isOpen = reply.isClosed === true;
    });
    this.#reach(prompt, 'sent');
    const { result, error, isClosed } = await replied;
    this.#reach(prompt, 'answer');
    const { stopReason } = (result ?? {}) as { readonly stopReason?: string };
    return { stopReason, error, isClosed, text: prompt.text };
  }

  #update(session: string, update: AcpParams): void {
    const prompt = this.#openIn(session);
    if (prompt === undefined) return;
    const kind = String(update['sessionUpdate']);
    if (kind === 'user_message_chunk') this.#problems.push('a history was told within a turn');
    if (kind === 'agent_message_chunk') {
      prompt.text += textOf(update);
      this.#reach(prompt, 'text');
    } else if (kind.startsWith('tool_call')) this.#reach(prompt, 'tool');
  }

  /** Prompts are taken to be worked off one after the other. */
  #openIn(session: string): Prompt | undefined {
    return this.#prompts.find((prompt) => prompt.isOpen && prompt.session === session);
  }

  async #permit(session: string, options: readonly AcpParams[]): Promise<AcpParams | undefined> {
    const { permissions } = this.#script;
    const held = new Promise<void>((release) => void this.#held.push(release));
    const prompt = this.#openIn(session);
    if (prompt !== undefined) this.#reach(prompt, 'permission');
    if (permissions === 'never') return undefined;
    if (permissions === 'allow' || permissions === 'reject') return selected(options, permissions);
    // A question that was on its way when the prompt was cancelled.
    if (prompt?.isCancelled !== true) await held;
    return permissions === 'at_cancel' ? { outcome: 'cancelled' } : selected(options, 'allow');
  }

  #reach(prompt: Prompt, at: string): void {
    if (prompt.seen.has(at)) return;
    prompt.seen.add(at);
    for (const fault of this.#pick({ at })) this.#act(fault, prompt);
  }

  #act(fault: ReadFault, { id, session }: Prompt): void {
    const { clock = realClock } = this.#script;
    switch (fault.do) {
      case 'cancel': {
        const cancel = (): void => {
          for (let left = fault.times ?? 1; left > 0; left--) this.cancel(session);
        };
        if (fault.afterMs === undefined) cancel();
        else clock.setTimeout(cancel, fault.afterMs);
        return;
      }
      case 'prompt':
        void this.#prompt(fault.sameId === true ? id : this.#nextId(), fault.text ?? 'And?', session);
        return;
      case 'close_stdin':
        this.#hasLeft = true;
        this.#agent.stdin.end();
        return;
      case 'stop_reading':
        this.#agent.stdout.pause();
        if (fault.ms !== undefined) clock.setTimeout(() => void this.#agent.stdout.resume(), fault.ms);
        return;
      case 'garbage':
        this.#wire.write(`${fault.line ?? 'no message'}\n`);
        return;
      case 'strange':
        if (fault.what === 'notification') this.#wire.notify('strange/notification', {});
        else void this.#wire.request(this.#nextId(), 'strange/request', {});
    }
  }
}
