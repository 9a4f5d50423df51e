import type { FailureFacts } from '../../policy/failures/failure.ts';
import type { HeardCalls } from '../../policy/spinning/heardCalls.ts';
import { parsedJson } from '../../policy/text/parsedJson.ts';
import {
  type AgentEffects,
  type AgentReader,
  type AgentSign,
  answer,
  CallCount,
  longestAnswer,
  recordIn,
  textIn,
  toldAnswer,
} from '../agentReport.ts';
import type { AgentName } from './profiles.ts';
import { agentFailure } from './profileFailure.ts';
import type { AgentMessages, AgentProfile, FieldTest, MessageRule } from './profile.ts';

type Message = Readonly<Record<string, unknown>>;

/** Longest JSON value that is read as a whole, in characters. */
const longestWhole = 16 * 1024 * 1024;

/** Facts about a run beforehand. */
interface ProfileReaderOptions {
  readonly agent: AgentName;
  readonly profile: AgentProfile;
  readonly messages: AgentMessages;
  /** True where the output is one JSON value. */
  readonly isWhole: boolean;
  /** True where the agent may repeat a failed request by itself. @defaultValue not known */
  readonly retriesItself?: boolean | undefined;
  /** Told of the calls of its tools, and of the answers. @defaultValue nobody is */
  readonly ear?: HeardCalls | undefined;
}

/** Reads the output of an agent by the rules of its profile. */
export function createProfileReader(options: ProfileReaderOptions): AgentReader {
  const run = new AgentRun(options);
  if (!options.isWhole) return run;
  let pieces: string[] = [];
  let length = 0;
  return {
    line(text) {
      // Words for people may stand before the value.
      if (pieces.length === 0 && !text.startsWith('{')) return 'traffic';
      length += text.length + 1;
      if (length <= longestWhole) pieces.push(text);
      return 'traffic';
    },
    report(wallNow) {
      const value = pieces.length === 0 ? undefined : recordIn(parsedJson(pieces.join('\n')));
      if (value !== undefined) {
        pieces = [];
        run.whole(value);
      }
      return run.report(wallNow);
    },
  };
}

class AgentRun implements AgentReader {
  readonly #options: ProfileReaderOptions;
  readonly #tools = new CallCount();
  #sessionId: string | undefined;
  /** The answer so far, and what its pieces have in common. */
  #text = '';
  #id: unknown;
  /** A tool was called: what is said next is another answer. */
  #isBehindTool = false;
  #effects: AgentEffects = 'none';
  #moreTools = 0;
  #ended: 'well' | 'badly' | undefined;
  #failure:
    | { readonly message?: string | undefined; readonly status?: number | undefined; readonly rule: MessageRule }
    | undefined;

  constructor(options: ProfileReaderOptions) {
    this.#options = options;
  }

  line(text: string): AgentSign {
    // Words for people may stand before a message, on its line.
    const start = text.trimStart().startsWith('{') ? 0 : text.indexOf('{"type":');
    const message = start < 0 ? undefined : recordIn(parsedJson(start === 0 ? text : text.slice(start)));
    return message === undefined ? 'traffic' : this.#take(message);
  }

  /** Takes a JSON value that is all of the output. */
  whole(value: Message): void {
    const { spread } = this.#options.messages;
    const list = spread === undefined ? undefined : at(value, spread.from);
    if (spread !== undefined && Array.isArray(list))
      for (const each of list) this.#take({ type: spread.as, [spread.as]: each as unknown });
    this.#take(value);
  }

  report(wallNow: number) {
    const { agent, messages, isWhole } = this.#options;
    const failure = this.#failureNow(wallNow);
    const text = this.#text.trim() === '' ? undefined : answer(this.#text);
    const isOpen = isWhole ? this.#ended === undefined : messages.toldLate === true && this.#ended !== 'well';
    return {
      agent,
      text: this.#ended !== undefined && failure === undefined ? text : undefined,
      sessionId: this.#sessionId,
      effects: isOpen && this.#effects === 'none' ? ('unknown' as const) : this.#effects,
      calls: { tools: this.#tools.count + this.#moreTools },
      concluded: this.#ended !== undefined,
      failure,
    };
  }

  #take(message: Message): AgentSign {
    const { session, rules } = this.#options.messages;
    const id = session === undefined ? undefined : textIn(at(message, session));
    // It becomes an argument, where a leading dash would make it an option.
    if (id?.startsWith('-') === false) this.#sessionId = id;
    let sign: AgentSign | undefined;
    for (const rule of rules) {
      if (!passes(message, rule.when)) continue;
      const list = rule.each === undefined ? [message] : at(message, rule.each);
      if (!Array.isArray(list)) continue;
      for (const each of list.map(recordIn)) {
        if (each === undefined || !passes(each, rule.item ?? {})) continue;
        const told = this.#means(rule, each, message);
        sign = sign === 'progress' ? sign : told;
      }
      if (rule.means === 'done' || rule.means === 'failed' || rule.means === 'ended') break;
    }
    return sign ?? 'progress';
  }

  #means(rule: MessageRule, part: Message, message: Message): AgentSign {
    const said = rule.text?.map((place) => at(part, place)).find((each) => typeof each === 'string' && each !== '');
    switch (rule.means) {
      case 'text':
        return this.#said(said, rule.id === undefined ? undefined : at(message, rule.id));
      case 'tool':
        this.#called(rule, part);
        // Told of only when it is over.
        if (rule.text !== undefined) this.#answered(rule, part);
        return 'progress';
      case 'result':
        this.#answered(rule, part);
        return 'progress';
      case 'failure':
        this.#fails(rule, part, said);
        return 'traffic';
      case 'done':
        this.#ended = 'well';
        this.#failure = undefined;
        return 'progress';
      case 'failed':
        this.#ended = 'badly';
        if (said !== undefined || this.#failure === undefined) this.#fails(rule, part, said);
        return 'progress';
      case 'ended':
        this.#ended ??= this.#failure === undefined ? 'well' : 'badly';
        return 'progress';
      case 'traffic':
        return 'traffic';
    }
  }

  #said(said: unknown, id: unknown): AgentSign {
    if (typeof said !== 'string') return 'traffic';
    // Of an answer that is told again and again nothing is new.
    const isAgain = said === this.#text && id !== this.#id;
    if (this.#isBehindTool || id !== this.#id) this.#text = '';
    this.#isBehindTool = false;
    this.#id = id;
    if (this.#text.length < longestAnswer) this.#text += said;
    // It got on.
    this.#failure = undefined;
    this.#ended = undefined;
    return isAgain ? 'traffic' : 'progress';
  }

  #called(rule: MessageRule, part: Message): void {
    const count = rule.count === undefined ? undefined : at(part, rule.count);
    if (rule.count !== undefined) {
      this.#moreTools = typeof count === 'number' ? count : 0;
      if (count !== 0) this.#effects = 'possible';
      return;
    }
    const id = rule.id === undefined ? undefined : at(part, rule.id);
    this.#tools.take(id);
    const name = rule.name === undefined ? undefined : textIn(at(part, rule.name));
    this.#isBehindTool = true;
    const { profile, ear } = this.#options;
    const looks = name !== undefined && profile.readOnlyTools?.includes(name) === true;
    if (!looks) this.#effects = 'possible';
    const input = rule.input === undefined ? undefined : at(part, rule.input);
    ear?.called(id, { tool: name ?? 'a tool', input, effect: looks ? 'readOnly' : undefined });
  }

  #answered({ id, text = [], fails = [], exit }: MessageRule, part: Message): void {
    const said = text.map((place) => at(part, place)).find((each) => each !== undefined && each !== '');
    const code = exit === undefined ? undefined : at(part, exit);
    const isBad = fails.some((tests) => passes(part, tests)) || (typeof code === 'number' && code !== 0);
    this.#options.ear?.answered(id === undefined ? undefined : at(part, id), toldAnswer(!isBad, said));
  }

  #fails(rule: MessageRule, part: Message, said: unknown): void {
    const status = rule.status === undefined ? undefined : at(part, rule.status);
    const message = textIn(said) ?? rule.says;
    this.#failure = { rule, message, ...(typeof status === 'number' && { status }) };
  }

  #failureNow(wallNow: number): FailureFacts | undefined {
    const { profile, retriesItself } = this.#options;
    if (this.#failure === undefined) return this.#ended === undefined ? undefined : this.#emptiness();
    const { message = `${profile.title} says that it failed`, status, rule } = this.#failure;
    return agentFailure(profile, { message, status, kind: rule.kind }, wallNow, retriesItself);
  }

  #emptiness(): FailureFacts | undefined {
    if (this.#text.trim() !== '') return undefined;
    const message = `${this.#options.profile.title} gave an empty answer`;
    return { kind: 'unknown', reason: 'empty_response', message, outcome: 'failed' };
  }
}

function passes(message: Message, tests: FieldTest): boolean {
  return Object.entries(tests).every(([place, expected]) => {
    const value = at(message, place);
    if (typeof expected === 'boolean')
      return typeof value === 'boolean' ? value === expected : expected === (value !== undefined && value !== null);
    return typeof expected === 'object' ? expected.includes(value as string) : value === expected;
  });
}

/** Value at a place; undefined where there is none. */
function at(message: Message, place: string): unknown {
  let value: unknown = message;
  for (const name of place.split('.')) {
    const fields = recordIn(value);
    value = fields !== undefined && Object.hasOwn(fields, name) ? fields[name] : undefined;
  }
  return value;
}
