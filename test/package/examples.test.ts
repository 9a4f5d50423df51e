import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const readme = read('README.md');
const root = new URL('../..', import.meta.url);

const run = async (example: string): Promise<string> => {
  const { stdout } = await execa(process.execPath, [`examples/${example}`], { cwd: root });
  return stdout;
};

/** The fenced blocks of the README in one language. */
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block]) => block ?? '');

describe('the README', () => {
  it('[U-1] shows examples/embed.mjs as it is, and what it prints', async () => {
    expect(blocks('js')).toEqual([read('examples/embed.mjs'), expect.stringMatching(/^\/\/ gateway\.mjs/)]);
    expect(blocks('text')).toEqual([`${await run('embed.mjs')}\n`]);
  });

  it('[N-1] shows a gateway on PostgreSQL as docs/scale.md does', () => {
    expect(read('docs/scale.md')).toContain(blocks('js')[1]);
  });

  it('[U-6] is at most 180 lines long', () => {
    expect(readme.split('\n').length).toBeLessThanOrEqual(180);
  });
});

describe('the examples', () => {
  it('are all run here', () => {
    expect(readdirSync(new URL('../../examples', import.meta.url)).sort()).toEqual([
      'Dockerfile',
      'agents.mjs',
      'claude-mcp.json',
      'claude-settings.json',
      'codex-config.toml',
      'compose.yaml',
      'embed.mjs',
      'express.ts',
      'hono.mjs',
      'minimal.mjs',
      'nightly.sh',
      'serve.json',
      'servers.mjs',
      'stream.ts',
      'tsconfig.json',
      'unwedge-serve.service',
      'workflow-goose.mjs',
      'workflow.mjs',
    ]);
  });

  it('[U-1] embed a gateway in at most 15 lines, whose session survives a fault', async () => {
    expect(read('examples/minimal.mjs').trimEnd().split('\n').length).toBeLessThanOrEqual(15);
    expect(await run('minimal.mjs')).toBe(
      "{\n  ok: true,\n  value: { status: 'ok', value: 'answered at attempt 3', retries: 2 }\n}",
    );
  });

  it('[U-4] ask an agent', async () => {
    const env = { CLAUDE: fileURLToPath(new URL('../fixtures/claudeAgent.mjs', import.meta.url)) };
    const { stdout } = await execa(process.execPath, ['examples/agents.mjs', 'say hello'], { cwd: root, env });
    expect(stdout).toBe('hello\nanswered by coder');
  });

  it('use a real server, a command and a hook', async () => {
    expect(await run('servers.mjs')).toBe("[ { type: 'text', text: 'Echo: hello' } ]\n42\nblock not here");
  });

  it('[W-1] go on with another backend', async () => {
    expect((await run('workflow.mjs')).split('\n')).toEqual([
      '1 of 3 · done: fetch prices · remote',
      '2 of 3 · done: write summary · remote',
      '3 of 3 · failed: mail it (attempt 1 of 3) · HTTP 402 · remote',
      'remote → local · mail failed, which ends the run: HTTP 402',
      '1 of 3 · handed over: fetch prices · local',
      '2 of 3 · handed over: write summary · local',
      '3 of 3 · done: mail it · local',
      '3 of 3 items done by local',
      "succeeded [ 'fetch by remote', 'write by remote', 'mail by local' ]",
    ]);
  });
});
