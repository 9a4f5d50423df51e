import { describe, expect, it } from 'vitest';
import { runFresh } from '../../support/freshProcess.ts';

/** A call whose work listens to its signal with a listener that throws, and which its caller aborts. Prints what became of it. */
const program = (guard: string): string => `
  import { createGateway } from 'unwedge';
  const gateway = createGateway({ store: ':memory:', control: false });
  let begun = () => undefined;
  const working = new Promise((resolve) => (begun = resolve));
  const kb = gateway.integration('kb', {}, (_, { signal }) => {
    signal.addEventListener('abort', () => { throw new Error('a listener of the host'); });
    begun();
    return new Promise(() => undefined);
  });
  ${guard}
  await gateway.start();
  const caller = new AbortController();
  const call = kb.call('x', { signal: caller.signal });
  await working;
  caller.abort();
  const { ok } = await call;
  await new Promise((resolve) => setImmediate(resolve));
  await gateway.stop();
  console.log(JSON.stringify({ ok }));
`;

describe('an abort listener of the host that throws', () => {
  it('[I-3] is an uncaught error of the process, as Node has it for every AbortSignal', async () => {
    const { exitCode, printed, complaints } = await runFresh(program(''));
    expect([exitCode, printed]).toEqual([1, undefined]);
    expect(complaints).toContain('a listener of the host');
  });

  it('[I-3] ends nothing where a process guard goes on', async () => {
    const guard = `gateway.guardProcess({ goOn: ({ message }) => message === 'a listener of the host' });`;
    const { exitCode, printed } = await runFresh(program(guard));
    expect([exitCode, printed]).toEqual([0, { ok: false }]);
  });
});
