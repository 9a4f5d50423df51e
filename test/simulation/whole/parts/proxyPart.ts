import { superviseMcpProxy } from '../../../../proxy/mcp/mcpProxy.ts';
import { Effects } from '../effects.ts';
import type { Part, PartMaker } from '../part.ts';
import type { WholeWorld } from '../wholeWorld.ts';
import { answerTo, mcpProgram } from './mcpProgram.ts';
import { OwnRuntime } from './ownRuntime.ts';
import { PipedClient, type PipedMessage } from './pipedClient.ts';

/** Of the preset `mcp`. In ms. */
const overallMs = 360_000;
/** The handshake has a limit of its own. In ms. */
const handshakeMs = 180_000;

/** `unwedge mcp`: a client on a pipe, a proxy, and a server that comes and goes. */
class ProxyPart implements Part {
  readonly steps = [
    [6, () => this.ask()],
    [0.5, () => this.#cancel()],
    [0.3, () => this.#stopReading()],
    [1, () => this.#client.output.resume()],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  readonly #effects: Effects;
  readonly #client: PipedClient;
  readonly #own: OwnRuntime;
  readonly #open = new Map<unknown, { readonly token: string; readonly ended: (came: string) => void }>();
  readonly #answered = new Set<unknown>();
  readonly #cancelled = new Set<unknown>();
  #last = 0;
  #lastWord = '';
  #isGreeted = false;

  constructor(world: WholeWorld, effects: Effects) {
    this.#world = world;
    this.#effects = effects;
    this.#client = new PipedClient(
      (message) => this.#hear(message),
      (line) => world.judge.violate('P-2', `the client reads what is no message: ${line.slice(0, 100)}`),
    );
    this.#own = new OwnRuntime(world, 'proxy', 'sim:behind');
    const { input, output } = this.#client;
    this.#own.start((runtime) => {
      superviseMcpProxy(
        runtime,
        { name: 'proxy', command: process.execPath, args: ['sim:behind'], idleMs: 10_000 },
        { input, output, errors: () => undefined, say: () => undefined, hide: (text) => text },
      );
      this.#greet();
    });
  }

  declare(): void {}

  ask(): void {
    const { chance } = this.#world;
    if (!this.#isGreeted) {
      if (this.#open.size === 0) this.#greet();
      return;
    }
    if (chance.happens(0.1)) {
      this.#request('tools/list', {}, 'tools', handshakeMs);
      return;
    }
    const name = chance.pick(['read', 'pay', 'put']);
    const token = `${name}-${this.#last + 1}`;
    this.#request('tools/call', { name, arguments: { token } }, token, overallMs);
  }

  check(): void {
    this.#own.asked.check();
  }

  calmDown(): void {
    this.#client.output.resume();
  }

  checkQuiet(): void {
    const { judge } = this.#world;
    judge.expect(this.#isGreeted && this.#lastWord === 'ok', 'Q-2', () => `the last request ended ${this.#lastWord}`);
    judge.expect(this.#open.size === 0, 'Q-2', () => `${this.#open.size} requests of the client are never answered`);
    this.#own.stop(() => this.#world.trace.note('the proxy has stopped'));
  }

  #request(method: string, params: object, token: string, limitMs: number): void {
    const id = ++this.#last;
    const isRead = !this.#client.output.isPaused();
    const ended = this.#own.asked.begin(`${method} ${id}`, isRead ? limitMs + 1000 : Number.POSITIVE_INFINITY);
    this.#open.set(id, { token, ended });
    this.#client.send({ id, method, params });
  }

  #hear({ id, method, result, error }: PipedMessage): void {
    const { judge } = this.#world;
    if (method !== undefined || id === undefined) return;
    // An answer may cross with its cancellation, once.
    if (this.#cancelled.delete(id)) return;
    const asked = this.#open.get(id);
    judge.expect(!this.#answered.has(id), 'I-1', () => `the request ${id} is answered twice`);
    judge.expect(asked !== undefined, 'P-2', () => `${String(id)} is answered, and was not asked`);
    if (asked === undefined) return;
    this.#open.delete(id);
    this.#answered.add(id);
    const isFailure = error !== undefined || result?.['isError'] === true;
    this.#lastWord = isFailure ? `with ${JSON.stringify(error ?? result).slice(0, 200)}` : 'ok';
    asked.ended(this.#lastWord);
    if (asked.token === 'handshake') this.#greeted(isFailure);
    else if (asked.token !== 'tools' && !isFailure) {
      const text = JSON.stringify(result);
      judge.expect(
        text.includes(`${answerTo(asked.token)}"`),
        'I-1',
        () => `${asked.token} gets another answer: ${text}`,
      );
      judge.expect(this.#effects.times(asked.token) > 0, 'I-1', () => `${asked.token} is answered and was never done`);
    }
  }

  #greet(): void {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'sim', version: '1' } };
    this.#request('initialize', params, 'handshake', handshakeMs);
  }

  #greeted(isFailure: boolean): void {
    this.#isGreeted = !isFailure;
    if (isFailure) return;
    this.#client.send({ method: 'notifications/initialized' });
    this.#request('tools/list', {}, 'tools', handshakeMs);
  }

  #stopReading(): void {
    this.#client.output.pause();
    this.#own.asked.excuse();
  }

  #cancel(): void {
    const [id, asked] = [...this.#open].at(-1) ?? [];
    if (id === undefined || asked?.token === 'handshake' || this.#cancelled.has(id)) return;
    this.#cancelled.add(id);
    this.#world.trace.note(`the client cancels ${asked?.token}`);
    this.#client.send({ method: 'notifications/cancelled', params: { requestId: id } });
    // Nobody waits for it any more.
    asked?.ended('cancelled');
    this.#answered.add(id);
    this.#open.delete(id);
  }
}

const all = new WeakMap<WholeWorld, Effects>();

function effectsOf(world: WholeWorld): Effects {
  const effects = all.get(world) ?? new Effects(world);
  all.set(world, effects);
  return effects;
}

export const proxyMaker: PartMaker = {
  programs: (world) => ({ 'sim:behind': mcpProgram(world, effectsOf(world)) }),
  make: (world) => new ProxyPart(world, effectsOf(world)),
};
