import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { sourceFiles } from '../../scripts/rooms.mjs';
import { runFresh } from '../support/freshProcess.ts';

const source = fileURLToPath(new URL('../..', import.meta.url));

/** Rooms that an entry of their own has; the one of functions, servers, commands and sessions has none of them. */
const purposes = {
  agents: ['agents/conversation'],
  codex: ['agents/codex', 'agents/codex/protocol'],
  claude: ['agents/claude'],
  workflow: ['workflow'],
  transcript: ['transcript'],
  config: ['src/config'],
  inspect: ['web/dashboard/page', 'web/dashboard/browser'],
  otel: ['otel'],
} as const;
type Purpose = keyof typeof purposes;

/** Names of the functions and classes that each file of the source declares, those at its top apart: read once, it is all of it. */
const declarations = sourceFiles()
  .filter((path) => path.endsWith('.ts'))
  .map((path) => {
    const text = readFileSync(`${source}${path}`, 'utf8');
    const namesIn = (pattern: RegExp): readonly string[] =>
      [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []);
    return {
      path,
      all: namesIn(/\b(?:function\*?|class) (\w+)/g),
      top: namesIn(/^(?:export )?(?:async )?(?:function\*?|class) (\w+)/gm),
    };
  });

/** Functions and classes that the files of a purpose declare, and no other file does: by them its code is known in a bundle. */
function declaredFor(purpose: Purpose): readonly string[] {
  const isOwn = ({ path }: { readonly path: string }): boolean =>
    purposes[purpose].some((room) => path.startsWith(`${room}/`));
  const others = new Set(declarations.filter((each) => !isOwn(each)).flatMap(({ all }) => all));
  return declarations
    .filter(isOwn)
    .flatMap(({ top }) => top)
    .filter((name) => !others.has(name));
}

/** The purposes whose code is in what a program loads, each with the names that are there. */
async function loadedBy(program: string): Promise<Partial<Record<Purpose, readonly string[]>>> {
  const { own, complaints } = await runFresh(program);
  expect(complaints).toBe('');
  const code = own.map((line) => readFileSync(fileURLToPath(line.replace('loaded ', '')), 'utf8')).join('\n');
  const there = new Set([...code.matchAll(/\b(?:function\*?|class) ([\w$]+)/g)].map(([, name]) => name));
  const found = (Object.keys(purposes) as Purpose[]).map(
    (purpose) => [purpose, declaredFor(purpose).filter((name) => there.has(name))] as const,
  );
  return Object.fromEntries(found.filter(([, names]) => names.length > 0));
}

describe('the entries', () => {
  it('[U-8] of functions, servers, commands and sessions carries nothing that another entry is for', async () => {
    expect(await loadedBy(`import 'unwedge';`)).toEqual({});
  });

  it.each<[string, readonly Purpose[]]>([
    ['agents', ['agents', 'codex']],
    ['codex', ['codex']],
    ['claude', ['claude']],
    ['workflow', ['workflow']],
    ['transcript', ['transcript']],
    ['config', ['config']],
    ['inspect', []],
    ['otel', ['otel']],
    ['testing', []],
    ['mcp-server', []],
  ])('[U-8] of a purpose imports its own: unwedge/%s', async (entry, expected) => {
    expect(Object.keys(await loadedBy(`import 'unwedge/${entry}';`))).toEqual(expected);
  });

  it('[U-8] share their classes: what one throws is an instance of what another exports', async () => {
    const { printed } = await runFresh(`
      import { AttemptError, createGateway, IntegrationError, unwrap } from 'unwedge';
      import { agentKind, createAgent } from 'unwedge/agents';
      import { codexKind } from 'unwedge/codex';
      import { loadConfig, ConfigError } from 'unwedge/config';
      const thrownBy = async (work) => { try { return await work(); } catch (error) { return error; } };
      const agent = createAgent({ backend: 'claude', claude: { query() { throw new AttemptError({ kind: 'auth', message: 'no key', outcome: 'failed' }); } } });
      const turn = unwrap(await agent.start()).send('hello');
      const thrown = await thrownBy(async () => unwrap(await turn.outcome));
      await agent.stop();
      console.log(JSON.stringify([thrown instanceof IntegrationError, thrown.failure.kind]));`);
    expect(printed).toEqual([true, 'auth']);
  });

  it('[U-8] that need no gateway load no package', async () => {
    const { packages } = await runFresh(`import 'unwedge/transcript'; import 'unwedge/testing';`);
    expect(packages).toEqual([]);
  });
});

describe('the kinds of a gateway', () => {
  it('[U-8] add their methods to it, in one line each', async () => {
    const { printed, complaints } = await runFresh(`
      import { createGateway } from 'unwedge';
      import { agentKind } from 'unwedge/agents';
      import { codexKind } from 'unwedge/codex';
      import { workflowKind } from 'unwedge/workflow';
      const gateway = createGateway({ kinds: [agentKind, codexKind, workflowKind] });
      const made = [gateway.agent('a', { backend: 'claude' }), gateway.codex('c'), gateway.workflow('w', {
        backends: [{ name: 'one', plan: () => ({ success: true, items: [] }), item: () => 1 }],
      })];
      await gateway.start();
      await gateway.stop();
      console.log(JSON.stringify(made.map(({ name }) => name)));`);
    expect({ printed, complaints }).toEqual({ printed: ['a', 'c', 'w'], complaints: '' });
  });
});
