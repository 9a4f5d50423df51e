import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { faultyAcpAgent } from '../../../dist/testing/index.js';
import { LineClient } from './lineClient.mjs';
import { file, main, Watched } from './watched.mjs';

const server = ['--', process.execPath, file('toolServer.mjs')];
const echo = (text) => ({ name: 'echo', arguments: { text } });

/** A configuration that keeps little, so that what is kept comes to a level soon. */
function configuration(directory, name, more = {}) {
  const path = join(directory, `${name}.json`);
  writeFileSync(path, JSON.stringify({ retention: { maxAgeMs: '90s' }, sessions: { historyLimit: 60 }, ...more }));
  return ['--config', path, '--db', join(directory, `${name}.sqlite`)];
}

/** Each starts a program beside the gateway, with clients. @returns the program, its doings by how often in a second, and how it is ended. */
export const neighbours = {
  async mcp(scope) {
    const words = [
      main,
      'mcp',
      '--name',
      'near',
      '--idle-timeout',
      '2s',
      ...configuration(scope.data, 'mcp'),
      ...server,
    ];
    const program = new Watched({ name: 'mcp', words, scope });
    const client = new LineClient(program);
    await client.ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'soak', version: '1' },
    });
    client.tell('notifications/initialized');
    const doings = {
      call: [5, (n) => client.ask('tools/call', echo(`n ${n}`))],
      list: [1, () => client.ask('tools/list', {})],
      large: [1, () => client.ask('tools/call', { name: 'large', arguments: {} })],
      cancelled: [1, () => client.ask('tools/call', { name: 'slow', arguments: { text: 'x', ms: 200 } }, 50)],
      crash: [0.05, () => client.ask('tools/call', { name: 'die', arguments: {} })],
    };
    return { program, client, doings };
  },

  async listen(scope) {
    const token = join(scope.data, 'listen-token');
    const options = ['--listen', '127.0.0.1:0', '--token-file', token, '--session-timeout', '15s'];
    const words = [main, 'mcp', '--name', 'shared', ...options, ...configuration(scope.data, 'listen'), ...server];
    const program = new Watched({ name: 'listen', words, scope });
    const url = new URL(await program.told(/(http:\/\/127\.0\.0\.1:\d+\/\S*)/));
    const headers = { Authorization: `Bearer ${scope.read(token).trim()}` };
    /** A client that comes and goes; of three one goes without a word. */
    const visit = async (n) => {
      const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
      const client = new Client({ name: `visitor ${n}`, version: '1.0.0' });
      try {
        await client.connect(transport);
        for (let call = 0; call < 20; call++) {
          await client.callTool(echo(`visitor ${n}`));
          await wait(50);
        }
        if (n % 3 !== 0) await transport.terminateSession();
      } finally {
        await client.close();
      }
    };
    return { program, doings: { visit: [0.2, visit] }, signal: 'SIGTERM' };
  },

  async serve(scope) {
    const served = { mcpServers: { tools: { command: process.execPath, args: [file('toolServer.mjs')] } } };
    const token = join(scope.data, 'serve-token');
    const words = [
      main,
      'serve',
      '--json',
      '--port',
      '0',
      '--token-file',
      token,
      ...configuration(scope.data, 'serve', served),
    ];
    const program = new Watched({ name: 'serve', words, scope });
    const url = await jsonOf(program, 'url');
    const Authorization = `Bearer ${scope.read(token).trim()}`;
    const request = async (path, { method = 'POST', body, headers, signal } = {}) => {
      const sent = { method, headers: { Authorization, ...headers }, signal };
      return fetch(`${url}/v1/${path}`, body === undefined ? sent : { ...sent, body: JSON.stringify(body) });
    };
    const named = async (id) => (await request('sessions', { body: { id } })).body?.cancel();
    const message = async (id, n) => {
      const body = { tool: { server: 'tools', name: 'echo', arguments: { text: `n ${n}` } } };
      const answer = await request(`sessions/${id}/messages?wait=10s`, {
        body,
        // Keys are remembered for longer than this takes.
        headers: id.startsWith('v-') ? { 'Idempotency-Key': `${id} ${n}` } : {},
      });
      const { state } = await answer.json();
      if (state !== 'done') throw new Error(`serve: a message of ${id} is ${answer.status} ${state}`);
    };
    for (let n = 0; n < 4; n++) await named(`s-${n}`);
    const doings = {
      message: [2, (n) => message(`s-${n % 4}`, n)],
      /** A reader of events that stays a while, then goes without a word. */
      events: [0.2, (n) => reads((signal) => request(`sessions/s-${n % 4}/events`, { method: 'GET', signal }), 2000)],
      visitor: [
        0.3,
        async (n) => {
          const id = `v-${n}`;
          await named(id);
          await message(id, n);
          await (await request(`sessions/${id}/history`, { method: 'GET' })).text();
          await (await request(`sessions/${id}?drain=1s`, { method: 'DELETE' })).text();
        },
      ],
      metrics: [0.1, async () => (await fetch(`${url}/metrics`, { headers: { Authorization } })).text()],
    };
    return { program, doings, signal: 'SIGTERM' };
  },

  async dashboard(scope) {
    const words = [main, 'dashboard', '--json', '--db', scope.store];
    const program = new Watched({ name: 'dashboard', words, scope });
    const { origin, hash } = new URL(await jsonOf(program, 'url'));
    const body = JSON.stringify({ token: hash.replace('#token=', '') });
    const login = await fetch(`${origin}/login`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', origin },
    });
    await login.text();
    const headers = { cookie: String(login.headers.get('set-cookie')).split(';', 1)[0] };
    const look = async (path) => (await fetch(`${origin}/api/${path}`, { headers })).text();
    const doings = {
      look: [0.3, (n) => look(['snapshot', 'events', 'trees', 'session?id=regular-1'][n % 4])],
      page: [0.1, async () => (await fetch(`${origin}/`)).text()],
      watch: [0.1, () => reads((signal) => fetch(`${origin}/api/stream`, { headers, signal }), 4000)],
    };
    return { program, doings, signal: 'SIGTERM' };
  },

  async api(scope) {
    const words = [
      main,
      'api',
      '--json',
      '--upstream',
      scope.upstream,
      '--name',
      'model',
      ...configuration(scope.data, 'api'),
    ];
    const program = new Watched({ name: 'api', words, scope });
    const url = await jsonOf(program, 'url');
    const ask = async (stream) => {
      const body = JSON.stringify({
        model: 'm',
        max_tokens: 9,
        stream,
        messages: [{ role: 'user', content: 'hello' }],
      });
      const headers = { 'content-type': 'application/json', 'x-api-key': 'key' };
      await (await fetch(`${url}/v1/messages`, { method: 'POST', body, headers })).text();
    };
    const leaves = (signal) =>
      fetch(`${url}/v1/messages`, {
        method: 'POST',
        body: JSON.stringify({ model: 'm', stream: true, messages: [] }),
        signal,
      });
    const doings = {
      whole: [2, () => ask(false)],
      stream: [2, () => ask(true)],
      left: [0.5, () => reads(leaves, 20)],
    };
    return { program, doings, signal: 'SIGTERM' };
  },

  async acp(scope) {
    const agent = faultyAcpAgent({ faults: [{ chance: 0.01, do: 'crash' }] });
    const words = [
      main,
      'acp',
      '--name',
      'agent',
      ...configuration(scope.data, 'acp'),
      '--',
      agent.command,
      ...agent.args,
    ];
    const program = new Watched({ name: 'acp', words, scope });
    const client = new LineClient(program, () => ({ outcome: { outcome: 'cancelled' } }));
    await client.ask('initialize', { protocolVersion: 1, clientCapabilities: {} });
    let session;
    const prompt = async (n) => {
      if (n % 20 === 0) session = client.ask('session/new', { cwd: '/', mcpServers: [] });
      const { result } = (await session) ?? {};
      if (result !== undefined)
        await client.ask('session/prompt', { sessionId: result.sessionId, prompt: [{ type: 'text', text: `n ${n}` }] });
    };
    return { program, client, doings: { prompt: [1, prompt] } };
  },
};

/** Commands of people and scripts, beside the gateway and on its database, by how often in a second. */
export function commandsBeside({ env, store }) {
  const command = (...words) =>
    new Promise((resolve) => execFile(process.execPath, [main, ...words], { env, timeout: 60_000 }, () => resolve()));
  return {
    status: [0.05, () => command('status', '--db', store)],
    inbox: [0.03, () => command('inbox', '--json', '--db', store)],
    forget: [0.05, (n) => command('forget', `closed-${n * 5}`, '--yes', '--db', store)],
    run: [0.05, () => command('run', '--name', 'beside', '--db', store, '--', 'true')],
    hook: [0.05, () => command('hook', '--name', 'guard', '--db', store, '--', 'true')],
  };
}

async function jsonOf(program, key) {
  const text = await program.said((said) => said.trimEnd().endsWith('}'));
  return JSON.parse(text)[key];
}

/** Reads an answer for so long, then leaves it. */
async function reads(ask, ms) {
  try {
    const answer = await ask(AbortSignal.timeout(ms));
    for await (const _ of answer.body ?? []);
  } catch (error) {
    if (error.name !== 'TimeoutError' && error.name !== 'AbortError') throw error;
  }
}
