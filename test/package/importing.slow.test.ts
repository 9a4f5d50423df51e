import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { runFresh } from '../support/freshProcess.ts';
import { temporaryDirectory } from '../support/temporary.ts';

const node = JSON.stringify(process.execPath);

/** A gateway whose facts are listed by type, and a print of JSON. */
const begin = `
  import { createGateway } from 'unwedge';
  import { agentKind } from 'unwedge/agents';
  import { codexKind } from 'unwedge/codex';
  import { workflowKind } from 'unwedge/workflow';
  const print = (value) => console.log(JSON.stringify(value));
  const facts = [];
  const loaded = async (name) => {
    const { readdirSync } = await import('node:fs');
    for (const file of readdirSync('dist/parts')) if (file.includes(name)) await import(process.cwd() + '/dist/parts/' + file);
  };
  const start = (options = {}) => {
    const gateway = createGateway({ store: ':memory:', kinds: [agentKind, codexKind, workflowKind], ...options });
    gateway.on('*', ({ type }) => facts.push(type));
    return gateway;
  };`;

describe('importing the package', () => {
  it('[U-1] loads no package but xstate', async () => {
    const { packages, exitCode, complaints } = await runFresh(`import 'unwedge';`);
    expect({ packages, exitCode, complaints }).toEqual({ packages: ['xstate'], exitCode: 0, complaints: '' });
  });

  it('[U-1] loads its entry and three files more: each costs as much as 50 kB of code', async () => {
    const { own } = await runFresh(`import 'unwedge';`);
    expect(own).toHaveLength(4);
  });

  it('[U-1] [S-4] makes a gateway and tells failures apart in a process that has no descriptor left', () => {
    const program = `
      import { classify, createGateway } from 'unwedge';
      import { openSync } from 'node:fs';
      try { for (;;) openSync('/dev/null'); } catch {}
      const { kind } = classify(new Error('x'), { dispatched: true });
      console.log(kind, typeof createGateway({ store: ':memory:' }).start);`;
    const words = ['-c', `ulimit -n 100; exec '${process.execPath}' --input-type=module --eval "$0"`, program];
    const { stdout, stderr } = spawnSync('/bin/sh', words, { encoding: 'utf8' });
    expect({ stdout, stderr }).toEqual({ stdout: 'unknown function\n', stderr: '' });
  });

  it('[U-1] gives machines of the xstate that its user imports', async () => {
    const { printed } = await runFresh(`
      import { integrationMachine } from 'unwedge';
      import { StateMachine } from 'xstate';
      console.log(JSON.stringify(integrationMachine instanceof StateMachine));`);
    expect(printed).toBe(true);
  });

  it.each([
    [
      'a module of CommonJS',
      `const { createGateway } = (await import('node:module')).createRequire(process.cwd() + '/')('unwedge');`,
      '',
    ],
    [
      'a Node that cannot require what it imports',
      `import { createGateway } from 'unwedge';`,
      '--no-experimental-require-module',
    ],
  ])('[U-1] works for %s', async (_who, imports, nodeOptions) => {
    const { printed, complaints } = await runFresh(
      `${imports}
      const gateway = createGateway({ store: ':memory:' });
      const double = gateway.integration('double', {}, async (value) => 2 * value);
      await gateway.start();
      console.log(JSON.stringify((await double.call(21)).value));
      await gateway.stop();`,
      { nodeOptions },
    );
    expect({ printed, complaints }).toEqual({ printed: 42, complaints: '' });
  });

  it('[N-1] loads nothing of PostgreSQL for a store in a file', async () => {
    const store = JSON.stringify(join(temporaryDirectory(), 'a.sqlite'));
    const { packages, own, exitCode } = await runFresh(`
      import { createGateway } from 'unwedge';
      const gateway = createGateway({ store: ${store}, control: false });
      await gateway.start();
      await gateway.stop();`);
    expect({ exitCode, kept: packages.includes('pg') }).toEqual({ exitCode: 0, kept: false });
    expect(own.filter((url) => url.includes('/postgresStore'))).toEqual([]);
  });

  it('[U-1] is whole in a bundle of its user, which runs where there is no package', async () => {
    const directory = temporaryDirectory();
    const program = `
      import { createGateway } from 'unwedge';
      import { repairTranscript } from 'unwedge/transcript';
      const gateway = createGateway({ store: ':memory:' });
      const double = gateway.integration('double', {}, async (value) => 2 * value);
      await gateway.start();
      console.log(JSON.stringify([(await double.call(21)).value, typeof repairTranscript]));
      await gateway.stop();`;
    const app = fileURLToPath(new URL('../app.mjs', import.meta.url));
    const bundle = await rolldown({
      input: app,
      platform: 'node',
      external: ['better-sqlite3', '@anthropic-ai/claude-agent-sdk'],
      plugins: [
        {
          name: 'app',
          load: (id) => (id === app ? program : undefined),
          resolveId: (id) => (id === app ? id : undefined),
        },
      ],
      logLevel: 'silent',
    });
    await bundle.write({ dir: directory, entryFileNames: '[name].mjs', chunkFileNames: '[name].mjs' });
    await bundle.close();
    const { stdout } = await execa(process.execPath, [`${directory}/app.mjs`], { cwd: directory });
    expect(JSON.parse(stdout)).toEqual([42, 'function']);
  });

  it('[U-1] starts nothing, listens to nothing and reads no variable of the environment', async () => {
    const { printed } = await runFresh(`
      const read = [];
      const look = () => [process.eventNames().length, process.getActiveResourcesInfo().filter((each) => each !== 'MessagePort').length];
      await import('xstate');
      const before = look();
      // Node itself reads its own as it loads.
      process.env = new Proxy(process.env, {
        get: (env, name) => (/^(NODE|WATCH)_/.test(name) || read.push(name), env[name]),
        ownKeys: (env) => (read.push('all'), Reflect.ownKeys(env)),
      });
      await import('unwedge');
      console.log(JSON.stringify({ read, same: String(before) === String(look()) }));`);
    expect(printed).toEqual({ read: [], same: true });
  });

  it('[U-1] gives the errors of one entry the class of the other', async () => {
    const { printed } = await runFresh(`
      import { AttemptError, createGateway } from 'unwedge';
      import { superviseMcpServer } from 'unwedge/mcp-server';
      import { SimulatedClock } from 'unwedge/testing';
      const clock = new SimulatedClock();
      let heard = 0;
      clock.setTimeout(() => heard++, 5);
      await clock.advance(5);
      console.log(JSON.stringify([typeof superviseMcpServer, heard, new AttemptError({ kind: 'crash', message: '', outcome: 'failed' }) instanceof AttemptError]));`);
    expect(printed).toEqual(['function', 1, true]);
  });
});

describe('a gateway of functions and sessions', () => {
  it('[U-1] loads no package but xstate', async () => {
    const { packages, printed } = await runFresh(`${begin}
      const gateway = start();
      const double = gateway.integration('double', {}, async (value) => 2 * value);
      const session = gateway.session('s', { onMessage: (_message, turn) => turn.tool('double', 4) });
      await gateway.start();
      const { value } = await double.call(21);
      const { processed } = await session.send({ kind: 'user' });
      await processed;
      await gateway.stop();
      print([value, facts.includes('call.failed')]);`);
    expect({ packages, printed }).toEqual({ packages: ['xstate'], printed: [42, false] });
  });
});

describe('a part that cannot be loaded', () => {
  it('[S-4] fails the run of a command, and says why', async () => {
    const { printed, complaints } = await runFresh(
      `${begin}
      const gateway = start();
      const run = gateway.subprocess('cat', { command: ${node}, policy: { retry: { maxAttempts: 1 } } });
      await gateway.start();
      const { ok, failure } = await run.call({ args: ['--version'] });
      await gateway.stop();
      print({ ok, kind: failure.kind, outcome: failure.outcome, message: failure.message });`,
      { fails: '/parts/execa.js' },
    );
    const message = expect.stringContaining('execa') as string;
    expect(printed).toEqual({ ok: false, kind: 'spawn', outcome: 'not_started', message });
    expect(complaints).toBe('');
  });

  it.each([
    ['the MCP SDK', '/node_modules/@modelcontextprotocol/', `{ command: ${node} }`],
    ['the link', '/parts/mcpLink-', `{ command: ${node} }`],
    ['what remote servers need', '/parts/remoteServer-', `{ url: 'http://127.0.0.1:9/mcp' }`],
  ])(
    '[P-1] [P-4] ends an incarnation of an MCP server, which is tried again, for: %s',
    async (_what, fails, server) => {
      const { printed, complaints } = await runFresh(
        `${begin}
      const gateway = start();
      const ends = [];
      gateway.mcpServer('kb', ${server});
      const twice = new Promise((resolve) => gateway.on('child.crashed', ({ error }) => ends.push(error) === 2 && resolve()));
      await gateway.start();
      await twice;
      await gateway.stop();
      print(ends);`,
        { fails },
      );
      expect(printed).toEqual([expect.stringContaining('is broken'), expect.stringContaining('is broken')]);
      expect(complaints).toBe('');
    },
  );

  it('[F-3] of the control socket is told, and the gateway runs', async () => {
    const { printed } = await runFresh(
      `${begin}
      const gateway = start({ store: ${JSON.stringify(`${temporaryDirectory()}/db.sqlite`)} });
      const one = gateway.integration('one', {}, async () => 1);
      await gateway.start();
      const { value } = await one.call();
      await gateway.stop();
      print([value, facts.includes('control.unavailable')]);`,
      { fails: '/parts/staleSockets-' },
    );
    expect(printed).toEqual([1, true]);
  });

  it.each([
    [
      'a connection to Codex',
      '/parts/codexServer-',
      `const codex = gateway.codex('codex', { command: ${node} });
       await gateway.start();
       const { ok, failure } = await codex.connect();`,
    ],
    [
      'the run of an agent',
      '/parts/execa.js',
      `const run = gateway.subprocess('codex', { command: ${node}, policy: { retry: { maxAttempts: 1 } } });
       await gateway.start();
       const { ok, failure } = await run.call({});`,
    ],
    [
      'a hook',
      '/parts/commandHook-',
      `gateway.hook('PreToolUse', { command: ${node} }, { onFailure: 'block' });
       await gateway.start();
       const { decision, reports: [{ failure }] } = await gateway.runHooks({ event: 'PreToolUse' });
       const ok = decision !== 'block';`,
    ],
    [
      'a call of Claude with a system prompt',
      '/parts/claudePromptFile-',
      `const claude = createClaude({ gateway, command: ${node}, log: false });
       await gateway.start();
       const { success: ok, error: message } = await claude.invokeClaude('hello', { systemPrompt: 'be brief' });
       const failure = { message };`,
    ],
    [
      'the inspector',
      '/parts/inspectionFeed-',
      `await gateway.start();
       const { webSocketUrl, url } = await inspectWithStately(gateway);
       const { ok, status } = await fetch(url.replace('/?', '/events?'));
       const failure = { message: status === 502 ? 'is broken' : String(status) };`,
    ],
  ])('[I-4] fails %s, and says why', async (_what, fails, use) => {
    const program = `${begin}
      import { createClaude } from 'unwedge/claude';
      import { inspectWithStately } from 'unwedge/inspect';
      const gateway = start();
      ${use}
      await gateway.stop();
      print([ok, failure.message]);`;
    const { printed, complaints } = await runFresh(program, { fails });
    expect(printed).toEqual([false, expect.stringContaining('is broken')]);
    expect(complaints).toBe('');
  });
});

describe('a part that could not be loaded once', () => {
  it('[I-4] is asked for again by the next connection to Codex', async () => {
    const { printed, complaints } = await runFresh(
      `${begin}
      const gateway = start();
      const codex = gateway.codex('codex', { command: ${node}, args: ['-e', ''] });
      await gateway.start();
      const messages = [(await codex.connect()).failure.message, (await codex.connect()).failure.message];
      await gateway.stop();
      print([...messages.map((message) => message.includes('is broken')), facts.includes('process.started')]);`,
      { failsOnce: '/parts/codexServer-' },
    );
    expect({ printed, complaints }).toEqual({ printed: [true, false, true], complaints: '' });
  });
});

describe('a gateway that is stopped while a part is loading', () => {
  it('[S-1] starts no command any more, and its call has ended', async () => {
    const { printed, complaints, exitCode } = await runFresh(
      `${begin}
      const gateway = start();
      const run = gateway.subprocess('cat', { command: ${node} });
      await gateway.start();
      const called = run.call({ args: ['--version'] });
      await held;
      await gateway.stop();
      const { ok, failure } = await called;
      letGo();
      await loaded('execa');
      setImmediate(() => print([ok, failure.reason, facts.includes('process.started')]));`,
      { holds: '/parts/execa.js' },
    );
    expect({ printed, complaints, exitCode }).toEqual({
      printed: [false, 'stopped', false],
      complaints: '',
      exitCode: 0,
    });
  });

  it.each(['/node_modules/@modelcontextprotocol/', '/parts/mcpLink-'])(
    '[P-1] starts no MCP server any more: %s',
    async (holds) => {
      const { printed, complaints, exitCode } = await runFresh(
        `${begin}
        const gateway = start();
        gateway.mcpServer('kb', { command: ${node} });
        await gateway.start();
        await held;
        await gateway.stop();
        letGo();
        await import('@modelcontextprotocol/client');
        setImmediate(() => print(facts.includes('process.started')));`,
        { holds },
      );
      expect({ printed, complaints, exitCode }).toEqual({ printed: false, complaints: '', exitCode: 0 });
    },
  );

  it.each(['await gateway.stop()', 'await codex.close()'])(
    '[I-3] leaves no app-server behind that was asked for before: %s',
    async (end) => {
      const { printed, complaints, exitCode } = await runFresh(
        `${begin}
      const gateway = start();
      const codex = gateway.codex('codex', { command: ${node}, args: ['-e', 'setInterval(() => {}, 1000)'] });
      await gateway.start();
      const connecting = codex.connect();
      await held;
      const ended = (async () => { ${end}; })();
      letGo();
      await ended;
      const { ok } = await connecting;
      await gateway.stop();
      const told = (wanted) => facts.filter((type) => type === wanted).length;
      print([ok, told('process.started') - told('process.exited')]);`,
        { holds: '/parts/codexServer-' },
      );
      expect({ printed, complaints, exitCode }).toEqual({ printed: [false, 0], complaints: '', exitCode: 0 });
    },
  );
});
