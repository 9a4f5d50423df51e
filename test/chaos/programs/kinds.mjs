import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { httpClient, lineClient } from './clients.mjs';
import { file } from './ran.mjs';

const tools = file('../soak/toolServer.mjs');
const agent = file('agentProgram.mjs');
const db = ({ directory }) => ['--db', join(directory, 'kept.sqlite')];
/** A limit that a stopped server reaches within the patience of a round. */
const hang = ['--idle-timeout', '2s', '--start-timeout', '20s'];

/**
 * The programs that are harmed. Each has: its words; `serverIs`, a word by which its child is known; `work`, which asks its requests and gives a promise of
 * `{what, problem}` for each, `problem` undefined where it got the one answer it is owed; `ends`, how it is told that all is done; and the exit codes that are
 * documented, by the harm (`usual` for those that change nothing).
 */
export const kinds = {
  run: {
    words: (scope) => [
      'run',
      ...db(scope),
      '--name',
      'work',
      '--',
      ...scope.node,
      file('commandProgram.mjs'),
      '12',
      '7',
      ...meal(scope),
    ],
    serverIs: 'commandProgram.mjs',
    work: (ran) => [ran.exited.then(() => ({ what: 'the run' }))],
    ends: (ran) => ran.closeInput(),
    /** Whatever it passes on begins as the output of its command does, and is whole where nothing befell that. */
    judge: ({ stdout, end }) =>
      linesTo(12).startsWith(stdout) && (end.code !== 7 || stdout === linesTo(12))
        ? []
        : [`run passed on ${JSON.stringify(stdout)}`],
    exits: {
      usual: [7],
      'kill server': [7, 137],
      'memory of the server': [134],
      processes: [134],
      term: [143],
      stdout: [141, 7],
      stderr: [141, 7],
    },
  },
  hook: {
    words: (scope) => [
      'hook',
      ...db(scope),
      '--name',
      'guard',
      '--timeout',
      '20s',
      '--',
      ...scope.node,
      file('commandProgram.mjs'),
      '6',
      '2',
      ...meal(scope),
    ],
    serverIs: 'commandProgram.mjs',
    work(ran) {
      ran.write(JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {} }));
      ran.closeInput();
      return [ran.exited.then(() => ({ what: 'the hook' }))];
    },
    ends: () => undefined,
    exits: {
      usual: [2],
      'kill server': [2, 0],
      'memory of the server': [0],
      processes: [0],
      term: [143, 0, 2],
      stdout: [2, 0],
    },
  },
  agent: {
    words: (scope) => [
      'agent',
      ...db(scope),
      '--backend',
      'goose',
      '--command',
      commandOf(scope),
      '--timeout',
      '60s',
      scope.eats ? 'eat' : 'hello',
    ],
    serverIs: 'agentProgram.mjs',
    work: (ran) => [ran.exited.then(() => ({ what: 'the turn' }))],
    ends: (ran) => ran.closeInput(),
    exits: {
      usual: [0],
      'kill server': [0, 1],
      'memory of the server': [1],
      processes: [1, 124],
      term: [143],
      stdout: [0, 141],
      stderr: [0, 141],
    },
  },
  mcp: {
    words: (scope) => ['mcp', ...db(scope), '--name', 'tools', ...hang, '--', ...scope.node, tools],
    serverIs: 'toolServer.mjs',
    work: (ran, scope) => lineClient(ran).mcp(scope),
    ends: (ran) => ran.closeInput(),
    exits: { usual: [0], term: [143], stdin: [0, 1], stdout: [0, 141] },
  },
  servers: {
    words(scope) {
      const path = join(scope.directory, 'servers.json');
      const server = serverOf(scope);
      writeFileSync(path, JSON.stringify({ mcpServers: { one: server, two: server } }));
      return ['mcp', ...db(scope), ...hang, '--servers', path];
    },
    serverIs: 'toolServer.mjs',
    work: (ran, scope) => lineClient(ran).mcp(scope, ['one__', 'two__']),
    ends: (ran) => ran.closeInput(),
    exits: { usual: [0], term: [143], stdin: [0, 1], stdout: [0, 141] },
  },
  url: {
    words: (scope) => ['mcp', ...db(scope), '--name', 'far', ...hang, '--url', `${scope.remote.url}/mcp`],
    isRemote: true,
    work: (ran, scope) => lineClient(ran).mcp(scope),
    ends: (ran) => ran.closeInput(),
    exits: { usual: [0], term: [143], stdin: [0, 1], stdout: [0, 141] },
  },
  listen: {
    words: (scope) => [
      'mcp',
      ...db(scope),
      '--name',
      'tools',
      ...hang,
      '--listen',
      '127.0.0.1:0',
      '--no-token',
      '--',
      ...scope.node,
      tools,
    ],
    serverIs: 'toolServer.mjs',
    work: (ran, scope) => httpClient(ran, scope, ran.told('stderr', /(http:\/\/127\.0\.0\.1:\d+\/\S*)/)).mcp(),
    /** A client has to know where it listens. */
    announces: (ran) => ran.told('stderr', /(127\.0\.0\.1:\d+)/),
    ends: (ran) => ran.signal('SIGTERM'),
    exits: { usual: [143] },
  },
  api: {
    words: (scope) => [
      'api',
      ...db(scope),
      '--json',
      '--name',
      'model',
      '--budget',
      '20s',
      '--upstream',
      scope.remote.url,
    ],
    isRemote: true,
    work: (ran, scope) => httpClient(ran, scope, ran.told('stdout', /"url": ?"([^"]+)"/)).model(),
    ends: (ran) => ran.signal('SIGTERM'),
    exits: { usual: [143], stdout: [141] },
  },
  serve: {
    words(scope) {
      const path = join(scope.directory, 'serve.json');
      const server = { ...serverOf(scope), env: { CHAOS_MARK: '${CHAOS_MARK}' } };
      const policies = { integrations: { tools: { restartWaitMs: '20s', idleMs: '2s' } } };
      writeFileSync(path, JSON.stringify({ mcpServers: { tools: server }, policies }));
      return ['serve', ...db(scope), '--json', '--no-token', '--port', '0', '--drain', '5s', '--config', path];
    },
    serverIs: 'toolServer.mjs',
    work: (ran, scope) => httpClient(ran, scope, ran.told('stdout', /"url": ?"([^"]+)"/)).serve(),
    ends: (ran) => ran.signal('SIGTERM'),
    exits: { usual: [0], stdout: [141] },
  },
  acp: {
    words: (scope) => ['acp', ...db(scope), '--name', 'agent', '--start-timeout', '20s', '--', ...scope.node, agent],
    serverIs: 'agentProgram.mjs',
    work: (ran, scope) => lineClient(ran).acp(scope),
    ends: (ran) => ran.closeInput(),
    exits: { usual: [0], term: [143], stdin: [0, 1], stdout: [0, 141] },
  },
};

/** A server with so little memory eats until none is left. */
const meal = ({ eats }) => (eats ? ['eat'] : []);
const serverOf = ({ node: [command, ...flags] }) => ({ command, args: [...flags, tools] });
/** An agent is started by its path alone. */
function commandOf({ node: [, ...flags], directory }) {
  if (flags.length === 0) return agent;
  const path = join(directory, 'agentProgram.mjs');
  writeFileSync(path, `#!/usr/bin/env -S node ${flags.join(' ')}\nawait import(${JSON.stringify(agent)});\n`, {
    mode: 0o755,
  });
  return path;
}
const linesTo = (count) => Array.from({ length: count }, (_, index) => `line ${index + 1}\n`).join('');
