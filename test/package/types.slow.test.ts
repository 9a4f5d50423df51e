import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, it, onTestFinished } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What TypeScript says of a program of a strict user, without the lines it is said of. */
async function complaintsAbout(program: string, options: object = {}): Promise<readonly string[]> {
  const directory = join(root, '.build', `types-${crypto.randomUUID()}`);
  mkdirSync(directory, { recursive: true });
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const compilerOptions = {
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: true,
    noEmit: true,
    target: 'es2022',
    module: 'nodenext',
    types: ['node'],
    ...options,
  };
  writeFileSync(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  writeFileSync(join(directory, 'program.ts'), `${equal}${program}`);
  const { stdout } = await execa(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', directory], {
    reject: false,
  });
  return stdout.split('\n').filter((line) => line.includes('error TS'));
}

/** `is<A, B>(true)` compiles when the types are the same. */
const equal = `
  type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
  declare function is<A, B>(same: Same<A, B>): void;
  export {};
`;

const begin = `
  import { createGateway, type ToolRequest, type ToolResult, type Outcome, type Session, type Turn } from 'unwedge';
  interface Query { readonly query: string }
  const gateway = createGateway();
  const kb = gateway.integration('kb', {}, async ({ input }: ToolRequest<Query>) => [input.query]);
`;

describe('the types of the package', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly exports: object };
  const entries = Object.entries(exports).flatMap(([path, target]) =>
    typeof target === 'string' ? [] : [path.replace('.', 'unwedge')],
  );
  const all = entries.map((entry, at) => `export * as e${at} from '${entry}';\n`).join('');

  it('[U-7] compile without `skipLibCheck`', async () => {
    const complaints = await complaintsAbout(all, { skipLibCheck: false, exactOptionalPropertyTypes: false });
    expect(complaints).toEqual([]);
  });

  it('[U-7] need it with `exactOptionalPropertyTypes` for one file of XState alone, as docs/embedding.md says', async () => {
    const complaints = await complaintsAbout(all, { skipLibCheck: false });
    // Once there are none, take the sentence out of the pages.
    expect(complaints.length).toBeGreaterThan(0);
    expect(complaints.filter((line) => !line.includes('/xstate/dist/declarations/src/setup.d.ts('))).toEqual([]);
    const page = readFileSync(join(root, 'docs/embedding.md'), 'utf8');
    expect(page).toMatch(/`exactOptionalPropertyTypes` needs `skipLibCheck: true`/);
  });
});

describe('the types of a tool call', () => {
  it('[U-7] carry through from the integration that is called, its input and its answer', async () => {
    const complaints = await complaintsAbout(`${begin}
      gateway.session('s', { async onMessage(_message, turn) {
        const found = await turn.tool(kb, 'search', { query: 'x' });
        is<typeof found, ToolResult<string[]>>(true);
        // @ts-expect-error the input is a Query
        await turn.tool(kb, 'search', { query: 1 });
        // @ts-expect-error the input is missing
        await turn.tool(kb, 'search');
      } });`);
    expect(complaints).toEqual([]);
  });

  it('[U-7] are said by the caller who gives a name', async () => {
    const complaints = await complaintsAbout(`${begin}
      gateway.session('s', { async onMessage(_message, turn) {
        is<ToolResult<string[]>, Awaited<ReturnType<typeof turn.tool<Query, string[]>>>>(true);
        const found = await turn.tool<Query, string[]>('kb', 'search', { query: 'x' });
        is<typeof found, ToolResult<string[]>>(true);
        // @ts-expect-error the input is a Query
        await turn.tool<Query, string[]>('kb', 'search', { query: 1 });
        const unsaid = await turn.tool('kb', 'search', { anything: 1 });
        is<typeof unsaid, ToolResult<unknown>>(true);
      } });`);
    expect(complaints).toEqual([]);
  });

  it('[U-7] carry through from an MCP server and from a command', async () => {
    const complaints = await complaintsAbout(`${begin}
      const files = gateway.mcpServer('files', { command: 'files' });
      const cat = gateway.subprocess('cat', { command: 'cat' });
      const double = gateway.integration('double', {}, async (value: number) => 2 * value);
      gateway.session('s', { async onMessage(_message, turn) {
        const read = await turn.tool(files, 'read', { path: 'a' });
        if (read.status === 'ok') read.value.content.at(0);
        await turn.tool(files, 'list');
        const run = await turn.tool(cat, 'cat', { args: ['a'] });
        if (run.status === 'ok') run.value.stdout.text.trim();
        // @ts-expect-error a command takes words
        await turn.tool(cat, 'cat', { args: [1] });
        // @ts-expect-error a function of numbers is no tool
        await turn.tool(double, 'double', 1);
      } });`);
    expect(complaints).toEqual([]);
  });
});

describe('the types of a tool call', () => {
  it('[U-7] take an operation that reads less than a tool is given, and an input that may be missing', async () => {
    const complaints = await complaintsAbout(`${begin}
      const maybe = gateway.integration('maybe', {}, async (request: { tool: string; input?: Query }) => request.tool);
      const either = gateway.integration('either', {}, async (request: ToolRequest<Query | undefined>) => request.tool);
      const name = gateway.integration('name', {}, async (request: { tool: string }) => request.tool);
      const alone = gateway.integration('alone', {}, async (request: { input: Query }) => request.input.query);
      const any = gateway.integration('any', {}, async (request: { tool: string; input: unknown }) => request.input);
      gateway.session('s', { async onMessage(_message, turn) {
        for (const it of [maybe, either]) {
          await turn.tool(it, 'go');
          await turn.tool(it, 'go', undefined);
          await turn.tool(it, 'go', { query: 'x' }, { effect: 'readOnly' });
          // @ts-expect-error the input is a Query
          await turn.tool(it, 'go', { query: 1 });
        }
        for (const it of [name, any]) {
          await turn.tool(it, 'go');
          await turn.tool(it, 'go', undefined);
          await turn.tool(it, 'go', 'whatever');
        }
        const found = await turn.tool(alone, 'go', { query: 'x' });
        is<typeof found, ToolResult<string>>(true);
        await turn.tool('kb', 'go', undefined, { effect: 'readOnly' });
      } });`);
    expect(complaints).toEqual([]);
  });

  it.each([
    ["turn.tool(kb, 'search', { query: 1 })", /'number' is not assignable to type 'string'/],
    ["turn.tool(kb, 'search')", /Expected 3-4 arguments, but got 2/],
    ["turn.tool(plain, 'search', { query: 'x' })", /OperationTakesInsteadOfToolRequest<Query>/],
    ["turn.tool<Query, string[]>('kb', 'search', { query: 1 })", /'number' is not assignable to type 'string'/],
  ])('[U-7] say of %s which argument is wrong', async (call, said) => {
    const complaints = await complaintsAbout(`${begin}
      const plain = gateway.integration('plain', {}, async ({ query }: Query) => query);
      gateway.session('s', { onMessage: (_message, turn) => ${call} });
      void plain;`);
    expect(complaints).toMatchObject([expect.stringMatching(said)]);
  });
});

describe('the types of a session', () => {
  it('[U-7] carry through from its handler to what a message ends with', async () => {
    const complaints = await complaintsAbout(`${begin}
      const session = gateway.session('s', { onMessage: async (message) => ({ length: message.text?.length ?? 0 }) });
      is<typeof session, Session<{ length: number }>>(true);
      const accepted = await session.send({ kind: 'user' });
      if (accepted.accepted) is<typeof accepted.processed, Promise<Outcome<{ length: number }>>>(true);
      is<ReturnType<typeof gateway.session>, Session<unknown>>(true);`);
    expect(complaints).toEqual([]);
  });

  it('[U-7] show nothing that only the runtime calls', async () => {
    const complaints = await complaintsAbout(`${begin}
      is<keyof Session, 'id' | 'state' | 'waiting' | 'history' | 'heldElsewhere' | 'knows' | 'send' | 'heartbeat' | 'why' | 'fire' | 'stopRetrying' | 'cancel' | 'sendAgain' | 'drop' | 'close'>(true);
      is<keyof Turn, 'stream' | 'number' | 'session' | 'messageId' | 'delivery' | 'signal' | 'isDone' | 'done' | 'touch' | 'tool' | 'ask' | 'escalate' | 'spend'>(true);
      is<keyof typeof kb, 'stream' | 'name' | 'breaker' | 'state' | 'started' | 'stats' | 'policy' | 'call' | 'cancelScope'>(true);`);
    expect(complaints).toEqual([]);
  });
});

describe('the types of a gateway', () => {
  it('[U-7] [U-8] have the methods of the kinds it is given, and no others', async () => {
    const complaints = await complaintsAbout(`
      import { createGateway, type Gateway } from 'unwedge';
      import { agentKind, type AgentMethods } from 'unwedge/agents';
      import { codexKind } from 'unwedge/codex';
      import { workflowKind } from 'unwedge/workflow';
      import { loadConfig } from 'unwedge/config';
      const { options } = await loadConfig();
      const gateway = createGateway({ ...options, kinds: [agentKind, codexKind, workflowKind] });
      gateway.agent('a', { backend: 'claude' }).start();
      gateway.codex('c').close();
      const run = gateway.workflow('w', { backends: [
        { name: 'one', plan: (input: string) => ({ success: true, items: [{ id: input, action: 'do' }] }), item: () => 1 },
      ] }).run('go');
      is<Awaited<typeof run.outcome>['items'][number] extends { id: string } ? true : false, true>(true);
      const withAgents: Gateway & AgentMethods = gateway;
      // @ts-expect-error it was not given the kind
      createGateway().agent('a', { backend: 'claude' });
      // @ts-expect-error no kind
      createGateway({ kinds: [{ kind: 'agent' }] });`);
    expect(complaints).toEqual([]);
  });

  it('[O-12] [U-7] take the header of a request of Node as it is, and say what its metrics are', async () => {
    const complaints = await complaintsAbout(`
      import type { IncomingMessage } from 'node:http';
      import { createGateway, type MetricsBody } from 'unwedge';
      const gateway = createGateway();
      export const answer = async ({ headers }: IncomingMessage) => {
        const body = await gateway.metrics({ accept: headers.accept });
        is<typeof body, MetricsBody>(true);
        is<MetricsBody, { readonly text: string; readonly contentType: string }>(true);
        await gateway.metrics();
        // @ts-expect-error the header itself
        await gateway.metrics(headers.accept);
      };`);
    expect(complaints).toEqual([]);
  });

  it('[U-7] name what the user wrote when an operation does not fit', async () => {
    const [complaint = '', ...more] = await complaintsAbout(`${begin}
      const takes = (integration: import('unwedge').Integration<ToolRequest<Query>, number[]>) => integration;
      takes(kb);`);
    expect(more).toEqual([]);
    expect(complaint).toMatch(/string/);
    expect(complaint).not.toMatch(/Operation|CallPath|any/);
    const [misfit = ''] = await complaintsAbout(`${begin}
      gateway.integration('two', {}, async (query, attempt: number) => JSON.parse(String(query)));`);
    expect(misfit).toMatch(/AttemptContext/);
    expect(misfit).not.toMatch(/Operation</);
  });
});
