import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { temporaryDirectory } from '../../support/temporary.ts';
import { everything, main, makeServeHome, type ServeProcess, startServe, startServing } from '../startServe.ts';

const home = () => makeServeHome({ mcpServers: { everything } });

const post = ({ origin, token }: ServeProcess, path: string, init: RequestInit = {}): Promise<Response> =>
  fetch(`${origin}${path}`, { method: 'POST', ...init, headers: { authorization: `Bearer ${token}` } });

describe('unwedge serve', () => {
  it('[E-1] takes bodies without a length: none at all, one in pieces, and no more of it than its limit', async () => {
    const serving = await startServe(home());
    expect((await post(serving, '/v1/sessions')).status).toBe(201);
    const inPieces = Readable.toWeb(Readable.from(['{"id":', '"main"}'])) as RequestInit['body'];
    const made = await post(serving, '/v1/sessions', { body: inPieces, duplex: 'half' } as RequestInit);
    expect([made.status, await made.json()]).toEqual([201, { id: 'serve:main', state: 'idle', waiting: 0 }]);
    const large = await post(serving, '/v1/sessions', { body: `{"id":"${'x'.repeat(5_000_000)}"}` });
    expect([large.status, await large.json()]).toEqual([413, { error: 'A body has at most 4194304 bytes.' }]);
  });

  it('[E-1] gives an address of its dashboard by the name that the client knows it by', async () => {
    const serving = await startServe(home());
    const byName = { ...serving, origin: serving.origin.replace('127.0.0.1', 'localhost') };
    const { url } = (await (await post(byName, '/v1/dashboard')).json()) as { readonly url: string };
    expect(url).toMatch(new RegExp(`^${byName.origin}/#token=[\\w-]+$`));
  });

  it('[E-1] keeps its sessions where the file says, from where that lies, unless --db or UNWEDGE_DB names another place', async () => {
    const { config, tokenFile, directory } = makeServeHome({ mcpServers: { everything }, store: 'kept.sqlite' });
    const elsewhere = temporaryDirectory();
    const words = [main, 'serve', '--config', config, '--listen', '127.0.0.1:0', '--token-file', tokenFile];
    const served = async (env: NodeJS.ProcessEnv = {}) => {
      const { child, exited } = await startServing(process.execPath, words, elsewhere, env);
      child.kill('SIGTERM');
      await exited;
    };
    await served();
    expect(existsSync(join(directory, 'kept.sqlite'))).toBe(true);
    expect(readdirSync(elsewhere).filter((name) => name.endsWith('.sqlite'))).toEqual([]);
    await served({ UNWEDGE_DB: 'variable.sqlite' });
    expect(existsSync(join(elsewhere, 'variable.sqlite'))).toBe(true);
  });

  it.each(['SIGTERM', 'SIGINT'] as const)(
    '[E-1] [I-3] ends in order by %s: a supervisor of services sees no failure',
    async (signal) => {
      const { child, exited } = await startServe(home());
      child.kill(signal);
      expect(await exited).toEqual({ code: 0, signal: null });
    },
  );
});
