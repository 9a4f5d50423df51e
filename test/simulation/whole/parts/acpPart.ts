import { AcpProxy } from '../../../../proxy/acp/acpProxy.ts';
import { checkAcpProxy } from '../../../../proxy/acp/settings.ts';
import { type AcpFaultRule, inProcessAcpAgent } from '../../../../testing/index.ts';
import type { SimulatedProgram } from '../../machine/simulatedProgram.ts';
import type { Part, PartMaker } from '../part.ts';
import type { WholeWorld } from '../wholeWorld.ts';
import { OwnRuntime } from './ownRuntime.ts';
import { PipedClient, type PipedMessage } from './pipedClient.ts';

/** A turn without progress is ended after 15 min, and an agent that does not end one soon after; one that crashed is sent again once. In ms. */
const promptMs = 45 * 60_000;

const faults: readonly AcpFaultRule[] = [
  { at: 'before', do: 'crash', signal: 'SIGKILL', chance: 0.05 },
  { at: 'text', do: 'crash', when: 'half', chance: 0.1 },
  { at: 'tool', do: 'crash', exitCode: 0, chance: 0.1 },
  { at: 'end', do: 'crash', when: 'after', chance: 0.1 },
  { at: 'text', do: 'hang', scope: 'agent', chance: 0.1 },
  { at: 'before', do: 'hang', scope: 'message', chance: 0.1 },
  { at: 'end', do: 'duplicate_answer', chance: 0.1 },
  { on: 'session/cancel', do: 'hang', chance: 0.3 },
  { on: 'session/load', do: 'crash', chance: 0.05 },
  { do: 'noise', newline: true, chance: 0.1 },
];

/** An agent that speaks ACP, as a process of the machine. */
const agentProgram = (world: WholeWorld) => (self: SimulatedProgram) => {
  const { clock, machine, seed } = world;
  const some = machine.isFaulty ? faults : [];
  // What it remembers of its sessions outlives it.
  const stateFile = `${world.disk.path}.agent.json`;
  const about = { clock, like: 'goose', stateFile } as const;
  const agent = inProcessAcpAgent({ ...about, faults: some, seed: seed * 1000 + self.facts.startTime });
  self.onLine = (line) => void agent.stdin.write(`${line}\n`);
  self.onInputEnd = () => void agent.stdin.end();
  agent.stdout.on('data', (chunk: Buffer | string) => self.write(chunk.toString()));
  void agent.exited.then((end) => ('code' in end ? self.exit(end.code) : self.die(end.signal)));
};

/** `unwedge acp`: an editor on a pipe, a proxy, and an agent that comes and goes. */
class AcpPart implements Part {
  readonly steps = [
    [3, () => this.ask()],
    [1, () => this.#client.send({ method: 'session/cancel', params: { sessionId: this.#session } })],
  ] as const satisfies Part['steps'];
  readonly #world: WholeWorld;
  readonly #client: PipedClient;
  readonly #own: OwnRuntime;
  readonly #open = new Map<unknown, (came: string) => void>();
  readonly #shown = new Map<string, number>();
  #session = '';
  #last = 0;
  #lastWord = '';

  constructor(world: WholeWorld) {
    this.#world = world;
    this.#client = new PipedClient(
      (message) => this.#hear(message),
      (line) => world.judge.violate('A-3', `the editor reads what is no message: ${line.slice(0, 100)}`),
    );
    this.#own = new OwnRuntime(world, 'acp', 'sim:acp');
    const { input, output } = this.#client;
    this.#own.start((runtime) => {
      const settings = checkAcpProxy({ name: 'acp', command: process.execPath, args: ['sim:acp'] }, runtime);
      const around = { input, output, errors: () => undefined, say: () => undefined, hide: (text: string) => text };
      runtime.join(new AcpProxy(runtime, settings, { ...around, wrap: undefined, layers: undefined }));
      this.#request('initialize', { protocolVersion: 1, clientCapabilities: {} }, 'i');
    });
  }

  declare(): void {}

  ask(): void {
    if (this.#session === '' || this.#open.size > 0) return;
    const token = `token-${++this.#last}`;
    const text = `say ${token}-a; wait ${this.#world.chance.integer(0, 2)}; say ${token}-b`;
    this.#request('session/prompt', { sessionId: this.#session, prompt: [{ type: 'text', text }] }, token);
  }

  check(): void {
    this.#own.asked.check();
  }

  /** Agents that are at fault are gone with their faults. */
  calmDown(): void {
    const { machine } = this.#world;
    for (const { facts } of [...machine.processes.values()])
      if (facts.args.includes('sim:acp')) machine.signal(facts.pid, 'SIGKILL');
  }

  checkQuiet(): void {
    const { judge } = this.#world;
    const isWell = this.#session === '' || this.#lastWord === 'ok';
    judge.expect(isWell, 'Q-2', () => `the last prompt ended ${this.#lastWord}`);
    this.#own.stop(() => this.#world.trace.note('the proxy of the agent has stopped'));
  }

  #request(method: string, params: object, id: string): void {
    this.#open.set(id, this.#own.asked.begin(`${method} ${id}`, promptMs));
    this.#client.send({ id, method, params });
  }

  #hear({ id, method, params, result, error }: PipedMessage): void {
    const { judge } = this.#world;
    if (method === 'session/update')
      this.#shows(params?.['update'] as { readonly content?: { readonly text?: string } });
    if (method !== undefined || id === undefined) return;
    const ended = this.#open.get(id);
    judge.expect(ended !== undefined, 'I-1', () => `${String(id)} is answered twice, or was never asked`);
    this.#open.delete(id);
    this.#lastWord = error === undefined ? 'ok' : `with ${error.message}`;
    ended?.(this.#lastWord);
    if (id === 'i') this.#request('session/new', { cwd: '/', mcpServers: [] }, 'n');
    if (id === 'n') this.#session = (result?.['sessionId'] as string | undefined) ?? '';
  }

  #shows({ content }: { readonly content?: { readonly text?: string } }): void {
    for (const [token] of (content?.text ?? '').matchAll(/token-\d+-[ab]/g)) {
      const times = (this.#shown.get(token) ?? 0) + 1;
      this.#shown.set(token, times);
      this.#world.judge.expect(times === 1, 'A-3', () => `${token} is shown ${times} times`);
    }
  }
}

export const acpMaker: PartMaker = {
  programs: (world) => ({ 'sim:acp': agentProgram(world) }),
  make: (world) => new AcpPart(world),
};
