import type { SimulatedProgram } from '../../machine/simulatedProgram.ts';
import type { WholeWorld } from '../wholeWorld.ts';

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly threadId?: string;
    readonly input?: readonly { readonly text?: string }[];
    readonly turnId?: string;
  };
}

/** The app-server of Codex: threads, turns with a message each, approvals; it goes wrong while its machine is at fault. */
export const codexProgram = (world: WholeWorld) => (self: SimulatedProgram) => {
  const { chance } = world;
  const isBad = (probability: number): boolean => world.machine.isFaulty && chance.happens(probability);
  let turns = 0;
  let questions = 0;
  const running = new Set<string>();
  const waiting = new Map<unknown, () => void>();
  const tell = (method: string, params: object): void => self.send({ method, params });
  const turn = (threadId: string, text: string, id: number | string): void => {
    const turnId = `turn-${self.facts.pid}-${++turns}`;
    running.add(turnId);
    self.send({ id, result: { turn: { id: turnId, status: 'inProgress', items: [] } } });
    tell('turn/started', { threadId, turn: { id: turnId, status: 'inProgress' } });
    const complete = (): void => {
      if (!running.delete(turnId)) return;
      tell('item/completed', {
        threadId,
        turnId,
        item: { type: 'agentMessage', id: `m-${turnId}`, text: `said ${text}` },
      });
      if (isBad(0.05)) return;
      const error = { message: 'the model failed', codexErrorInfo: 'serverOverloaded' };
      const end = isBad(0.1) ? { status: 'failed', error } : { status: 'completed', items: [] };
      for (let left = isBad(0.1) ? 2 : 1; left > 0; left--)
        tell('turn/completed', { threadId, turn: { id: turnId, ...end } });
    };
    if (isBad(0.05)) return;
    if (isBad(0.05)) self.after(chance.span(1, 2000), () => self.exit(1));
    if (!isBad(0.3)) {
      self.after(isBad(0.3) ? chance.span(1, 100_000) : 2, complete);
      return;
    }
    const question = `q-${self.facts.pid}-${++questions}`;
    waiting.set(question, () => self.after(1, complete));
    const about = { threadId, turnId, itemId: 'c1', command: 'make' };
    self.send({ method: 'item/commandExecution/requestApproval', id: question, params: about });
  };
  self.onLine = (line) => {
    const { id, method, params } = JSON.parse(line) as Message;
    if (isBad(0.02)) self.write('not json\n');
    if (isBad(0.01)) self.exit(3);
    if (method === undefined) {
      waiting.get(id)?.();
      waiting.delete(id);
    }
    if (id === undefined || method === undefined) return;
    if (isBad(0.02)) return;
    if (method === 'initialize') self.send({ id, result: { userAgent: 'sim/1', codexHome: '/', platformOs: 'linux' } });
    else if (method === 'thread/start')
      self.send({ id, result: { thread: { id: `thread-${self.facts.pid}-${++turns}`, turns: [] } } });
    else if (method === 'thread/resume') self.send({ id, result: { thread: { id: params?.threadId, turns: [] } } });
    else if (method === 'turn/start') turn(params?.threadId ?? '', params?.input?.[0]?.text ?? '', id);
    else if (method === 'turn/interrupt') {
      self.send({ id, result: {} });
      if (running.delete(params?.turnId ?? '') && !isBad(0.2))
        tell('turn/completed', {
          threadId: params?.threadId,
          turn: { id: params?.turnId, status: 'interrupted', items: [] },
        });
    } else self.send({ id, result: { data: [], nextCursor: null } });
  };
};
