import type { WorkflowMethods } from '../../../../workflow/workflow.ts';
import type { WorkflowBackend, WorkflowItem, WorkflowRun } from '../../../../workflow/workflowTypes.ts';
import type { Host } from '../host.ts';
import type { Part, PartMaker } from '../part.ts';
import type { WholeWorld } from '../wholeWorld.ts';

const overallMs = 600_000;
const concurrency = 2;
type Workflow = ReturnType<WorkflowMethods['workflow']>;

/** What a run has done, as its backends know it. */
interface Books {
  readonly done: Set<string>;
  readonly items: readonly WorkflowItem[];
}

/** Plans that are worked off by two backends which fail and hang, and runs that are cancelled. */
class WorkflowPart implements Part {
  readonly steps = [
    [2, () => this.ask()],
    [0.7, () => this.#runs.at(-1)?.cancel()],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  readonly #books = new Map<string, Books>();
  #workflow: Workflow | undefined;
  #runs: WorkflowRun<unknown, unknown>[] = [];
  #last = 0;
  #lastStatus = '';

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  declare({ gateway }: Host): void {
    const backends = ['first', 'second'].map((name) => this.#backend(name));
    this.#workflow = gateway.workflow<string, string, string>('plan', { backends, concurrency, overallMs }) as never;
  }

  ask(): void {
    const { open, asked, chance } = this.#world;
    if (open === undefined || this.#workflow === undefined) return;
    const token = `plan-${++this.#last}`;
    const items = Array.from({ length: chance.integer(1, 5) }, (_, index): WorkflowItem => {
      const dependencies = Array.from({ length: index }, (_none, before) => `${token}.${before}`);
      const some = dependencies.filter(() => chance.happens(0.3));
      return {
        id: `${token}.${index}`,
        action: 'do',
        dependencies: some,
        effect: chance.pick(['idempotent', 'mutating']),
      };
    });
    this.#books.set(token, { done: new Set(), items });
    // What is aborted at the limit has a moment to say so.
    const ended = asked.begin(token, overallMs + 1000);
    const run = this.#workflow.run(token);
    this.#runs.push(run);
    void this.#readEvents(run, token, open);
    void run.outcome.then((outcome) => {
      if (!open.isAlive) return;
      this.#lastStatus = outcome.status;
      ended(outcome.status);
      this.#judge(token, outcome);
    });
  }

  killed(): void {
    this.#runs = [];
  }

  checkQuiet(): void {
    this.#world.judge.expect(this.#lastStatus === 'succeeded', 'Q-2', () => `the last run ended ${this.#lastStatus}`);
  }

  async #readEvents(run: WorkflowRun<unknown, unknown>, token: string, host: Host): Promise<void> {
    const { judge } = this.#world;
    let number = 0;
    let ends = 0;
    for await (const event of run.events()) {
      if (!host.isAlive) return;
      judge.expect(event.number === ++number, 'W-5', () => `${token} tells event ${event.number} as number ${number}`);
      judge.expect(ends === 0, 'W-5', () => `${token} tells ${event.type} after its end`);
      if (event.type === 'workflow_ended') ends++;
    }
    judge.expect(ends === 1, 'W-5', () => `${token} tells ${ends} ends`);
  }

  #judge(token: string, { status, items }: Awaited<WorkflowRun<unknown, unknown>['outcome']>): void {
    const { judge } = this.#world;
    const { done } = this.#books.get(token) as Books;
    const ids = items.map(({ id }) => id);
    judge.expect(new Set(ids).size === ids.length, 'W-1', () => `${token} has an item with two ends: ${ids.join(' ')}`);
    for (const item of items) {
      const isTrue = item.status !== 'done' || done.has(item.id);
      judge.expect(isTrue, 'W-1', () => `${item.id} is told as done and was not`);
    }
    const isWhole = status !== 'succeeded' || (items.length > 0 && items.every((item) => item.status === 'done'));
    judge.expect(isWhole, 'W-1', () => `${token} succeeded without all of its items`);
  }

  #backend(name: string): WorkflowBackend<string, string, string> {
    return {
      name,
      policy: { limits: { idleMs: 120_000, attemptMs: 200_000, overallMs: 200_000 } },
      plan: async (token, { signal }) => {
        await this.#fate(0.1, signal);
        return { success: true, items: this.#books.get(token)?.items ?? [] };
      },
      item: async ({ id, dependencies = [] }, { signal, done: known }) => {
        const { judge, host } = this.#world;
        const books = this.#books.get(id.split('.')[0] ?? '');
        judge.expect(books?.done.has(id) !== true || !known.has(id), 'W-1', () => `${id} is done again`);
        const missing = dependencies.find((each) => !known.has(each));
        judge.expect(missing === undefined, 'W-1', () => `${id} is begun before ${missing}`);
        await this.#fate(0.25, signal);
        if (host?.isAlive === true) books?.done.add(id);
        return `${id} by ${name}`;
      },
    };
  }

  /** Goes well, soon or late; or fails, hangs until it is aborted, or for ever. */
  async #fate(bad: number, signal: AbortSignal): Promise<void> {
    const { chance, clock, calm } = this.#world;
    await new Promise<void>((resolve) => clock.setTimeout(resolve, calm ? 1 : chance.span(1, 20_000)));
    if (calm || !chance.happens(bad)) return;
    const status = chance.pick([503, 400, 401, 429]);
    await chance.pick<() => Promise<void>>([
      () => Promise.reject(Object.assign(new Error(`status ${status}`), { status })),
      () =>
        new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
        ),
      () => new Promise(() => undefined),
    ])();
  }
}

export const workflowMaker: PartMaker = { make: (world) => new WorkflowPart(world) };
