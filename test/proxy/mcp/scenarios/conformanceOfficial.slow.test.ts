import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { temporaryDirectory } from '../../../support/temporary.ts';
import {
  addressOf,
  conformanceClient,
  conformanceServer,
  conformanceSignIn,
  type Verdicts,
  verdictsOnClient,
  verdictsOnServer,
  worse,
} from '../conformance/official.ts';

const main = fileURLToPath(new URL('../../../../dist/cli/main.js', import.meta.url));
const proxy = [process.execPath, main, 'mcp'];
const listens = [...proxy, '--listen', '127.0.0.1:0', '--no-token', '--'];
/** Nothing of a run is kept. */
const env = { ...process.env, UNWEDGE_DB: ':memory:' };
const minutes = { timeout: 120_000 };

let verdicts: Verdicts | undefined;
/** Those of the server that serves itself: nothing on their way changes them, so the suite is run once for all that is compared with them. */
const verdictsDirect = async (): Promise<Verdicts> =>
  (verdicts ??= await verdictsOnServer(await addressOf([...conformanceServer, '--http'])));

describe('the official conformance suite', () => {
  it(
    '[P-6] [P-5] gives a server that is served over HTTP no worse verdicts than one that serves itself',
    minutes,
    async () => {
      const direct = await verdictsDirect();
      expect(Object.values(direct).filter((verdict) => verdict === 'SUCCESS')).toHaveLength(44);
      expect(Object.values(direct)).not.toContain('FAILURE');
      const through = await verdictsOnServer(await addressOf([...listens, ...conformanceServer], env));
      expect(worse(through, direct)).toEqual({});
    },
  );

  it('[P-6] [P-4] gives the same through a chain: HTTP to us, us to a remote server', minutes, async () => {
    const direct = await verdictsDirect();
    const address = await addressOf([...conformanceServer, '--http']);
    const through = await addressOf([...listens, ...proxy, '--url', address], env);
    expect(worse(await verdictsOnServer(through), direct)).toEqual({});
  });

  it.each(['initialize', 'tools_call', 'elicitation-sep1034-client-defaults', 'sse-retry'])(
    '[P-6] [P-4] gives an official client the verdicts through us that it has itself: %s',
    minutes,
    async (scenario) => {
      const direct = await verdictsOnClient(conformanceClient, scenario);
      expect(Object.values(direct)).toContain('SUCCESS');
      expect(Object.values(direct)).not.toContain('FAILURE');
      const through = await verdictsOnClient([...conformanceClient, ...proxy, '--url'], scenario);
      expect(worse(through, direct)).toEqual({});
    },
  );

  it.each([
    'metadata-default',
    'metadata-var3',
    'scope-from-www-authenticate',
    'scope-retry-limit',
    'token-endpoint-auth-basic',
  ])('[P-6] [P-4] finds nothing wrong with how one signs in through us: auth/%s', minutes, async (scenario) => {
    const home = temporaryDirectory();
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_STATE_HOME', undefined);
    vi.stubEnv('UNWEDGE_DB', join(home, 'unwedge.sqlite'));
    const verdicts = Object.values(await verdictsOnClient([...conformanceSignIn, main], `auth/${scenario}`));
    expect(verdicts.length).toBeGreaterThan(8);
    expect(new Set(verdicts)).toEqual(new Set(['SUCCESS']));
  });
});
