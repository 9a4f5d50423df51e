import type { SimulatedProgram } from '../../machine/simulatedProgram.ts';
import type { ToolResult } from '../../../../src/sessions/toolResult.ts';
import type { WholeWorld } from '../wholeWorld.ts';

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly arguments?: { readonly token?: string; readonly message?: string };
    readonly requestId?: unknown;
  };
}

/** How often a call may be begun: once, and once more for each end that its session was told of, or each process that died with it. */
export class DeskBooks {
  readonly #world: WholeWorld;
  readonly #begun = new Map<string, number>();
  readonly #allowed = new Map<string, number>();
  /** Allowed of all that was begun so far. */
  #lives = 1;

  constructor(world: WholeWorld) {
    this.#world = world;
  }

  begin(token: string): void {
    const times = (this.#begun.get(token) ?? 0) + 1;
    this.#begun.set(token, times);
    const allowed = (this.#allowed.get(token) ?? 0) + this.#lives;
    this.#world.trace.note(`  begun: ${token}`);
    this.#world.judge.expect(
      times <= allowed,
      'R-18',
      () => `${token} is begun ${times} times, and ${allowed} were allowed`,
    );
  }

  /** The session was told an end; one that is kept is not over. */
  told(token: string, result: ToolResult): void {
    const { judge } = this.#world;
    const isKept = 'keptUntil' in result && result.keptUntil !== undefined;
    if (!isKept) this.#allowed.set(token, (this.#allowed.get(token) ?? 0) + 1);
    const isIts = result.status !== 'ok' || JSON.stringify(result.value).includes(`late ${token}"`);
    judge.expect(isIts, 'I-1', () => `${token} gets another answer: ${JSON.stringify(result)}`);
  }

  /** A message is delivered again: what it had called may be called again. */
  allow(message: string): void {
    for (const token of this.#begun.keys())
      if (token.startsWith(`${message}.`)) this.#allowed.set(token, (this.#allowed.get(token) ?? 0) + 1);
  }

  /** The process is dead: nobody knows what it kept. */
  allowAll(): void {
    this.#lives++;
  }
}

const books = new WeakMap<WholeWorld, DeskBooks>();

/** A server whose tool takes its time, mostly longer than its limit. */
export const deskProgram = Object.assign(
  (world: WholeWorld) =>
    (self: SimulatedProgram): void => {
      const { chance, machine } = world;
      const isBad = (probability: number): boolean => machine.isFaulty && chance.happens(probability);
      const tools = [{ name: 'slow', inputSchema: { type: 'object' }, annotations: { destructiveHint: true } }];
      const serverInfo = { name: 'desk', version: '1' };
      self.onLine = (line) => {
        const { id, method, params } = JSON.parse(line) as Request;
        if (id === undefined) return;
        if (method === 'initialize')
          self.send({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } });
        else if (method === 'tools/list') self.send({ id, result: { tools } });
        else if (method === 'ping') self.send({ id, result: {} });
        else if (method === 'tools/call') {
          const token = params?.arguments?.token ?? '';
          deskProgram.books(world).begin(token);
          if (isBad(0.05)) self.after(chance.span(1, 20_000), () => self.exit(1));
          if (isBad(0.05)) return;
          const content = [{ type: 'text', text: `late ${token}` }];
          self.after(chance.span(1, machine.isFaulty ? 60_000 : 8000), () => self.send({ id, result: { content } }));
        }
      };
    },
  {
    /** The books of a world, of which its program and its sessions know. */
    books(world: WholeWorld): DeskBooks {
      const known = books.get(world) ?? new DeskBooks(world);
      books.set(world, known);
      return known;
    },
  },
);
