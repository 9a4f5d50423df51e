import { describe, expect, it, onTestFinished } from 'vitest';
import { createGateway } from '../../../../src/index.ts';
import { loseTwice, madeAnew, startLosingFront, words } from '../losingFront.ts';
import { startSessions } from '../officialServers.ts';

describe('a session of a remote server that is lost', () => {
  it.each(words)('[P-4] [R-12] by %s is made anew', async (_, word, isRefused) => {
    const server = await startSessions();
    const front = await startLosingFront(server.url);
    const gateway = createGateway();
    onTestFinished(() => gateway.stop());
    const kb = gateway.mcpServer('kb', { url: front.url, handshakeMs: 600_000 });
    await gateway.start();
    await kb.call({ name: 'find', arguments: { text: 'x' } });
    expect(await loseTwice({ kb, server, front }, word)).toEqual(madeAnew(isRefused));
  });
});
