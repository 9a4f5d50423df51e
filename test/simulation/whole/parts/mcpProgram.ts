import type { SimulatedProgram } from '../../machine/simulatedProgram.ts';
import type { Effects } from '../effects.ts';
import type { WholeWorld } from '../wholeWorld.ts';

interface Request {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: {
    readonly name?: string;
    readonly arguments?: { readonly token?: string };
    readonly requestId?: unknown;
  };
}

const tool = (name: string, hints: object) => ({ name, inputSchema: { type: 'object' }, annotations: hints });
const tools = [
  tool('read', { readOnlyHint: true }),
  tool('pay', { readOnlyHint: false, destructiveHint: true, idempotentHint: false }),
  tool('put', { readOnlyHint: false, idempotentHint: true }),
];

/** What a token of a result says that it answers. */
export const answerTo = (token: string): string => `answer to ${token}`;

/** An MCP server on stdio, which goes wrong in every way that servers do while its machine is at fault. */
export function mcpProgram(world: WholeWorld, effects: Effects) {
  return (self: SimulatedProgram): void => {
    const { chance } = world;
    const isBad = (probability: number): boolean => world.machine.isFaulty && chance.happens(probability);
    let isDeaf = isBad(0.02);
    const cancelled = new Set<unknown>();
    if (isBad(0.05)) self.after(chance.span(1, 3000), () => self.exit(chance.integer(0, 3)));
    if (isBad(0.1)) self.onInputEnd = () => undefined;
    if (isBad(0.1)) self.takes = () => true;
    if (isBad(0.1)) self.machine.fork(self, (child) => (child.onInputEnd = () => undefined), chance.happens(0.5));
    if (isBad(0.05)) self.write('npm notice a new version\n');
    const answer = (id: number | string, result: object): void => {
      if (cancelled.has(id)) return;
      self.send({ id, result });
      if (isBad(0.05)) self.send({ id, result });
      if (isBad(0.02)) self.send({ id: 'nobody', result });
      if (isBad(0.03)) self.exit(1);
    };
    const call = (id: number | string, name: string, token: string): void => {
      const isOnce = name === 'pay';
      const finish = (): void => {
        effects.done(token, isOnce);
        if (isBad(0.05)) self.die('SIGKILL');
        else if (isBad(0.06)) self.send({ id, error: { code: -32_603, message: 'it broke' } });
        else answer(id, { content: [{ type: 'text', text: answerTo(token) }] });
      };
      if (isBad(0.06)) return;
      if (isBad(0.04)) self.exit(2);
      else self.after(isBad(0.3) ? chance.span(1, 400_000) : chance.integer(0, 3), finish);
    };
    self.onLine = (line) => {
      if (isDeaf || line === '') return;
      const { id, method, params } = JSON.parse(line) as Request;
      if (isBad(0.01)) isDeaf = true;
      if (isBad(0.02))
        self.write(chance.pick(['{"jsonrpc":"2.0","id":', 'garbage', '[]', '{"jsonrpc":"2.0","id":{}}']) + '\n');
      if (isBad(0.01))
        for (let left = 200; left > 0; left--) self.send({ method: 'notifications/message', params: {} });
      if (method === 'notifications/cancelled') cancelled.add(params?.requestId);
      if (id === undefined || method === undefined) return;
      if (method === 'initialize') {
        const result = {
          protocolVersion: '2025-06-18',
          capabilities: { tools: {} },
          serverInfo: { name: 'sim', version: '1' },
        };
        if (!isBad(0.03)) self.after(isBad(0.1) ? chance.span(1, 30_000) : 0, () => self.send({ id, result }));
      } else if (method === 'tools/list') answer(id, { tools });
      else if (method === 'tools/call') call(id, params?.name ?? '', params?.arguments?.token ?? '');
      else if (method === 'ping') self.send({ id, result: {} });
      else self.send({ id, error: { code: -32_601, message: 'no such method' } });
    };
  };
}
