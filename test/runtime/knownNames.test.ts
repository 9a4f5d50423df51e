import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../src/index.ts';

async function startGateway() {
  const gateway = createGateway();
  onTestFinished(() => gateway.stop());
  const kb = gateway.integration('kb', {}, () => 1);
  const session = gateway.session('agent:main', { onMessage: () => undefined });
  await gateway.start();
  return { gateway, kb, session, why: (given: unknown) => gateway.why(given as string) };
}

describe('why of what is no session', () => {
  it.each(['by its handle', 'by its name'])('[L-5] says what tells of an integration that is given %s', async (how) => {
    const { kb, why } = await startGateway();
    expect(() => why(how === 'by its name' ? 'kb' : kb)).toThrow(
      'Expected the ID of a session, got the integration `kb`: `state`, `breaker.state` and `stats` of an integration tell of it; ' +
        'known sessions: agent:main',
    );
  });

  it('[L-5] says that a session tells of itself', async () => {
    const { session, why } = await startGateway();
    expect(() => why(session)).toThrow('got the session itself: its own `why()` tells of it');
  });

  it('[L-5] names what was given, and the sessions there are', async () => {
    const { why } = await startGateway();
    expect(() => why('nobody')).toThrow('No session `nobody`; known sessions: agent:main');
    expect(() => why(undefined)).toThrow('Expected the ID of a session, got undefined; known sessions: agent:main');
    expect(() => createGateway().why('nobody')).toThrow('No session `nobody`; known sessions: none');
  });
});

describe('a restart of what is no name', () => {
  it('[L-5] says what it takes', async () => {
    const { gateway, kb } = await startGateway();
    expect(() => gateway.restart(kb as never)).toThrow(/`name`.*an object/);
  });
});
