import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeServed } from '../../../cli/config/servedParts.ts';
import { whatIsServed } from '../../../cli/serve/whatIsServed.ts';
import { messageOf } from '../../../src/policy/failures/thrown.ts';
import { temporaryDirectory } from '../../support/temporary.ts';

function served(content: unknown, as: 'config' | 'servers' = 'config') {
  const file = join(temporaryDirectory(), 'serve.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  const args = { config: undefined, servers: undefined, [as]: file };
  return whatIsServed(args, { TOKEN: 'planted' });
}

const shaped = `sk-ant-api03-${'a1B2c3D4'.repeat(8)}`;
const kb = { command: 'kb-server', args: ['--quiet'], env: { KEY: '${TOKEN}' } };

describe('what `unwedge serve` serves', () => {
  it('[E-1] are the servers, agents and hooks of its configuration', async () => {
    const content = {
      store: 'gateway.sqlite',
      policies: { integrations: { kb: { maxAttempts: 1 } } },
      mcpServers: { kb, far: { url: 'https://mcp.example/mcp', headers: { authorization: 'Bearer ${TOKEN}' } } },
      agents: { coder: { backend: 'claude', approve: ['Read'] } },
      hooks: { PreToolUse: [{ command: '/bin/guard', onFailure: 'block' }] },
    };
    expect(await served(content)).toMatchObject({
      servers: {
        kb: { command: 'kb-server', args: ['--quiet'], env: { KEY: 'planted' } },
        far: { url: 'https://mcp.example/mcp', headers: { authorization: 'Bearer planted' } },
      },
      agents: content.agents,
      hooks: content.hooks,
    });
  });

  it('[E-1] gives a server as long to start as the proxy does, or as long as its entry says', async () => {
    const far = { url: 'https://mcp.example/mcp' };
    const mcpServers = { kb, far, slow: { ...kb, handshakeMs: '5m' }, slower: { ...far, handshakeMs: 90_000 } };
    expect(await served({ mcpServers })).toMatchObject({
      servers: {
        kb: { handshakeMs: 180_000 },
        far: { handshakeMs: 30_000 },
        slow: { handshakeMs: 300_000 },
        slower: { handshakeMs: 90_000 },
      },
      warnings: [],
    });
  });

  it.each([
    ['no JSON', '{', /cannot be read as JSON/],
    ['no object', '[]', /to hold an object/],
    ['nothing to serve', { store: 'x.sqlite' }, /neither `mcpServers` nor `agents`/],
    ['a server that is none', { mcpServers: { kb: 7 } }, /"kb": expected an object/],
    ['agents that are none', { agents: ['claude'] }, /agents: expected objects by their names/],
    [
      'hooks in another shape',
      { mcpServers: { kb }, hooks: { PreToolUse: { command: 'x' } } },
      /hooks.PreToolUse: expected a list of hooks/,
    ],
  ])('[E-1] refuses %s', async (_, content, error) => {
    await expect(served(content)).rejects.toThrow(error);
  });

  it('[E-1] has no word that is read by nobody without saying so', async () => {
    const mcpServers = {
      kb: { ...kb, effect: 'readOnly', vendor: 1 },
      far: { url: 'https://mcp.example/mcp', comand: 'x' },
    };
    expect((await served({ mcpServers })).warnings).toEqual([
      '`mcpServers.far.comand` is read by nobody; did you mean command?',
      '`mcpServers.kb.effect` is read by nobody: it belongs under `policies.integrations.kb`',
      '`mcpServers.kb.vendor` is read by nobody',
    ]);
    // That of a client may hold what is the client's.
    expect((await served({ mcpServers }, 'servers')).warnings).toHaveLength(2);
  });

  it('[E-1] are those of the file that UNWEDGE_CONFIG names, where --config names none', async () => {
    const file = join(temporaryDirectory(), 'serve.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { kb } }));
    const args = { config: undefined, servers: undefined };
    const { servers } = await whatIsServed(args, { TOKEN: 'planted', UNWEDGE_CONFIG: file });
    expect(Object.keys(servers)).toEqual(['kb']);
  });

  it('[E-1] [O-8] says what is wrong with an agent without the secrets that stand there', async () => {
    const claude = { args: `--token=${shaped}` };
    const env = 'KEY=planted-secret-of-this-environment';
    const content = { agents: { c: { backend: 'claude', claude }, d: { backend: 'codex', env } } };
    const file = join(temporaryDirectory(), 'serve.json');
    writeFileSync(file, JSON.stringify(content));
    const surroundings = { MY_API_KEY: 'planted-secret-of-this-environment' };
    const told = await whatIsServed({ config: file, servers: undefined }, surroundings).then(String, messageOf);
    expect(told).toMatch(/agents\.c\.claude\.args: expected .*agents\.d\.env: expected/);
    const checked = await judgeServed(file, surroundings);
    expect(checked.problems.map(({ path }) => path)).toEqual(['agents.c.claude.args', 'agents.d.env']);
    for (const said of [told, JSON.stringify(checked.problems)]) expect(said).not.toMatch(/planted|sk-ant-api03/);
  });

  it('[E-1] says of a file that is not there that it cannot be read, not that it is no JSON', async () => {
    const missing = whatIsServed({ config: '/nonexistent/serve.json', servers: undefined }, {});
    await expect(missing).rejects.toThrow(/cannot be read: ENOENT/);
  });

  it('[E-1] says what to write where nothing is named', async () => {
    await expect(whatIsServed({ config: undefined, servers: undefined }, {})).rejects.toThrow(
      /Nothing is named.*`mcpServers`.*`agents`/s,
    );
    await expect(whatIsServed({ config: 'gateway.mjs', servers: undefined }, {})).rejects.toThrow(/Nothing is named/);
  });
});
