import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { beforeAll, describe, expect, it } from 'vitest';
import type { ModelRequest } from '../../testing/index.ts';
import { runBuilt } from '../cli/startCli.ts';
import { setup } from '../globalSetup.ts';
import { installed } from '../proxy/mcp/conformance/ways.ts';
import { hasCopilot } from './copilotEnv.ts';
import { hasGemini } from './geminiEnv.ts';
import { hasGoose } from './gooseEnv.ts';
import { hasOpencode } from './opencodeEnv.ts';
import { type ProfiledAgent, startAgentAlone } from './startRealRun.ts';

interface Client {
  readonly isThere: boolean;
  /** Its name of the tool. */
  readonly tool: string;
  /** Below its home. */
  readonly file: string;
  /** Words by which it writes the file itself; a text where it has none. */
  readonly adds: readonly string[] | string;
}

const server = installed('everything');
const clients: Readonly<Record<ProfiledAgent, Client>> = {
  goose: {
    isThere: hasGoose,
    tool: 'ev__echo',
    file: '.config/goose/config.yaml',
    adds: `# mine\nextensions:\n  # the server\n  ev:\n    enabled: true\n    type: stdio\n    name: ev\n    description: every\n    cmd: node   # here\n    args:\n    - ${server}   # its script\n    envs:\n      K: v\n    timeout: 300\n  todo: {type: platform, name: todo, enabled: false, description: t}\n`,
  },
  gemini: {
    isThere: hasGemini,
    tool: 'mcp_ev_echo',
    file: '.gemini/settings.json',
    adds: ['mcp', 'add', '-s', 'user', 'ev', 'node', server],
  },
  opencode: {
    isThere: hasOpencode,
    tool: 'ev_echo',
    file: 'config/opencode/opencode.jsonc',
    adds: ['mcp', 'add', 'ev', '--', 'node', server],
  },
  copilot: {
    isThere: hasCopilot,
    tool: 'ev-echo',
    file: '.copilot/mcp-config.json',
    adds: ['mcp', 'add', 'ev', '--', 'node', server],
  },
};

/** The answer of the server as the model was given it. */
const answered = ({ body }: ModelRequest): boolean => JSON.stringify(body).includes('Echo: it is heard');

describe.each(Object.keys(clients) as ProfiledAgent[])('unwedge install with the real %s', (agent) => {
  const { isThere, tool, file, adds } = clients[agent];
  beforeAll(setup);

  it.skipIf(!isThere)('[E-10] has the tools of its server from behind unwedge, and its own file back', async () => {
    const script = (request: ModelRequest) =>
      answered(request)
        ? { text: 'done' }
        : { text: 'I call.', tool: { name: tool, input: { message: 'it is heard' } } };
    const { home, cwd, env, program, words, requests } = await startAgentAlone(agent, script);
    const start = async (more: readonly string[]) => {
      const [command = '', ...args] = [...program, ...more];
      return execa(command, args, { cwd, env, extendEnv: false, reject: false, stdin: 'ignore' });
    };
    const path = join(home, file);
    const { PATH = '', XDG_CONFIG_HOME } = env;
    const ownEnv = { HOME: home, PATH, ...(XDG_CONFIG_HOME === undefined ? {} : { XDG_CONFIG_HOME }) };
    if (typeof adds === 'string') {
      mkdirSync(join(path, '..'), { recursive: true });
      writeFileSync(path, adds);
    } else await start(adds);
    const before = readFileSync(path);
    expect(before.toString()).toContain(server);
    // It is where its makers put it, below the home or the folder that the environment names.
    const install = (...more: string[]) => runBuilt(['install', agent, ...more], ownEnv);

    expect(await install()).toMatchObject({ code: 0, stderr: '' });
    const wrapped = readFileSync(path, 'utf8');
    expect(wrapped).toMatch(/"mcp",\s+(?:- )?"--name"|- "mcp"/);
    await start(words);
    expect(requests().some(answered)).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe(wrapped);
    const doctor = await runBuilt(['doctor', '--all'], ownEnv);
    expect(doctor.stdout.replaceAll(/\s+/g, ' ')).toMatch(/1 behind unwedge .*0 broken/);

    expect(await install('--undo')).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});
