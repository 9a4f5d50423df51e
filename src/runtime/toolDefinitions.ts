import { createHash, randomUUID } from 'node:crypto';
import type { Timer } from '../policy/clock.ts';
import type { FailureFacts } from '../policy/failures/failure.ts';
import type { Question } from '../policy/records/question.ts';
import { commandAbout } from '../policy/text/shownCommand.ts';
import {
  changedLines,
  changedParts,
  definitionOf,
  type KnownDefinitions,
  type ListedTool,
  type ToolDefinition,
} from '../policy/toolDefinition.ts';
import { refused } from '../policy/toolRules.ts';
import type { Runtime } from './runtime.ts';

interface DefinitionsScope {
  readonly runtime: Pick<Runtime, 'clock' | 'bus' | 'redactAnswer' | 'store'>;
  /** Name that the definitions are kept under, and that of its integration. */
  readonly server: string;
  readonly integration: string;
  /** Holds what changed, or is new. */
  readonly pin: boolean;
  readonly say: (line: string) => void;
  /** Tools are held no longer. */
  readonly accepted: () => void;
}

interface Held {
  /** Undefined of one that cannot be compared, and so not be accepted. */
  readonly definition: ToolDefinition | undefined;
  readonly what: string;
  /** Id of the question to a person. */
  readonly question: string | undefined;
}

/** Tools of one server whose definitions are kept. */
const mostTools = 10_000;
const dayMs = 24 * 3_600_000;
/** Times after which it is looked whether the store is open, at most so often, and whether somebody has accepted a tool, in ms. */
const storeMs = 100;
const mostLooks = 100;
const answerMs = 1000;

/** The definitions of a server's tools as they were first seen, or were accepted since, held against what it lists now. Nothing here throws or rejects. */
export class ToolDefinitions {
  readonly #scope: DefinitionsScope;
  readonly #held = new Map<string, Held>();
  #known: KnownDefinitions = { tools: {} };
  #last: Promise<void> = Promise.resolve();
  #timer: Timer | undefined = undefined;
  #isEnded = false;
  #isTold = false;

  constructor(scope: DefinitionsScope) {
    this.#scope = scope;
  }

  /** The server lists these. @param isLast - that are all, with those before. Resolves when they are compared. */
  seen(tools: readonly ListedTool[], isLast: boolean): Promise<void> {
    return this.#then(() => this.#compare(tools, isLast));
  }

  /** Returns a tool as it is listed for callers: one that is held as it was; undefined where it is not listed. */
  shown<T extends ListedTool>(tool: T): T | undefined {
    const name = String(tool['name']);
    return this.#held.has(name) ? (this.#own(name)?.tool as T | undefined) : tool;
  }

  /** Says why a tool may not be called now. */
  refusal(tool: string): FailureFacts | undefined {
    const held = this.#held.get(tool);
    const until = ` until a person accepts that (${commandAbout('accept', this.#scope.server, ` ${tool}`)})`;
    return held && refused(`${held.what}, and is held${held.definition === undefined ? '' : until}`, 'held');
  }

  end(): void {
    this.#isEnded = true;
    this.#scope.runtime.clock.clearTimeout(this.#timer);
  }

  #own(tool: string): ToolDefinition | undefined {
    return Object.hasOwn(this.#known.tools, tool) ? this.#known.tools[tool] : undefined;
  }

  #then(work: () => Promise<void>): Promise<void> {
    return (this.#last = this.#last.then(work).catch(() => undefined));
  }

  async #compare(listed: readonly ListedTool[], isLast: boolean): Promise<void> {
    const { pin, runtime } = this.#scope;
    // It may be opened after the first answer.
    for (let looks = 0; runtime.store() === undefined && looks < mostLooks && !this.#isEnded; looks++)
      await new Promise<void>((resolve) => void runtime.clock.setTimeout(resolve, storeMs));
    const defined = new Map(listed.slice(0, mostTools).map((tool) => [tool, definitionOf(tool)]));
    const found = [...defined].flatMap(([{ name }, each]) =>
      each === undefined ? [] : [[String(name), each] as const],
    );
    let changed: (readonly [name: string, definition: ToolDefinition, before: ToolDefinition | undefined])[] = [];
    await this.#change((known) => {
      const { tools, isWhole = false } = known;
      const before = new Map(Object.entries(tools));
      const others = found.filter(([name, { hash }]) => before.get(name)?.hash !== hash);
      const isNew = (name: string): boolean => !before.has(name) && !(pin && isWhole);
      changed = others.flatMap(([name, each]) => (isNew(name) ? [] : [[name, each, before.get(name)]]));
      const taken = others.filter(([name]) => isNew(name) || !pin);
      return { isWhole: isWhole || isLast, tools: Object.fromEntries([...before, ...taken].slice(0, 2 * mostTools)) };
    });
    for (const [name] of found) this.#held.delete(name);
    if (pin) for (const tool of listed) if (defined.get(tool) === undefined) this.#hold(String(tool['name']));
    for (const [name, definition, before] of changed) await this.#isOther(name, definition, before);
    this.#look();
  }

  async #isOther(tool: string, definition: ToolDefinition, before: ToolDefinition | undefined): Promise<void> {
    const { server, integration, pin, runtime, say } = this.#scope;
    const parts = before === undefined ? [] : changedParts(before.tool, definition.tool);
    const what = `The tool ${tool} of ${server} ${before === undefined ? 'is new' : `changed (${parts.join(', ')})`}`;
    const message = `${what} since it was accepted${pin ? ', and is held' : ''}`;
    // Before anybody is asked: it is held meanwhile.
    if (pin) this.#held.set(tool, { definition, what, question: undefined });
    const askedAt = Math.round(runtime.clock.wallNow());
    const lines = changedLines(before?.tool ?? {}, definition.tool);
    const asked = await runtime.store()?.questions.ask({
      ...runtime.redactAnswer({ what: `${message}. Accept it as it is now?`, detail: { tool, lines } }),
      ...{ id: randomUUID().replaceAll('-', '').slice(0, 20), waiter: randomUUID(), source: 'tool', asker: server },
      ...{ form: { is: 'decision' }, askedAt, deadlineAt: askedAt + (pin ? 3650 : 7) * dayMs },
      place: createHash('sha256')
        .update(['tool', server, tool, before?.hash, definition.hash].join('\n'))
        .digest('base64url'),
    });
    if (pin) this.#held.set(tool, { definition, what, question: asked?.question.id });
    if (pin && isAccepted(asked?.question)) await this.#accept(tool, definition);
    if (asked?.isNew === false) return;
    runtime.bus.tell({ type: 'mcp.tool_changed', integration, tool, parts, held: pin, message });
    say(`${message}; next: ${commandAbout('accept', server, '')}`);
  }

  /** Holds a tool that cannot be compared: pinned, it would pass as whatever it says it is. */
  #hold(tool: string): void {
    const { server, integration, runtime, say } = this.#scope;
    const what = `The tool ${tool} of ${server} cannot be compared: it nests too deep, or ${mostTools} others come before it`;
    const message = `${what}, and is held`;
    const isKnown = this.#held.has(tool);
    this.#held.set(tool, { definition: undefined, what, question: undefined });
    if (isKnown) return;
    runtime.bus.tell({ type: 'mcp.tool_changed', integration, tool, parts: [], held: true, message });
    say(message);
  }

  async #accept(tool: string, definition: ToolDefinition): Promise<void> {
    await this.#change((known) => ({ ...known, tools: { ...known.tools, [tool]: definition } }));
    this.#held.delete(tool);
  }

  /** Changes what is kept, for all processes at once; without a store it lasts as long as this one. */
  async #change(change: (known: KnownDefinitions) => KnownDefinitions): Promise<void> {
    const { server, runtime, pin, say } = this.#scope;
    const store = runtime.store();
    const made = await store?.definitions.change(server, runtime.clock.wallNow(), (memory) => {
      const known = change(memory === undefined ? this.#known : (JSON.parse(memory) as KnownDefinitions));
      const text = JSON.stringify(known);
      return { ...(text !== memory && { memory: text }), result: known };
    });
    this.#known = made ?? change(this.#known);
    if ((made !== undefined && store?.persistent === true) || !pin || this.#isTold) return;
    this.#isTold = true;
    say(`There is no database to keep the pins of ${server} in: they hold until this process ends`);
  }

  /** Looks from time to time whether somebody has accepted what is held. */
  #look(): void {
    const { runtime, accepted } = this.#scope;
    runtime.clock.clearTimeout(this.#timer);
    const before = this.#held.size;
    if (this.#isEnded || before === 0) return;
    const look = async (): Promise<void> => {
      for (const [tool, { definition, question = '' }] of this.#held) {
        const [asked] = (question !== '' && (await runtime.store()?.questions.named(question))) || [];
        if (isAccepted(asked) && definition !== undefined) await this.#accept(tool, definition);
      }
      if (this.#held.size < before) accepted();
      this.#look();
    };
    this.#timer = runtime.clock.setTimeout(() => void this.#then(look), answerMs);
  }
}

const isAccepted = (question: Question | undefined): boolean => question?.answer?.decision === 'accept';
