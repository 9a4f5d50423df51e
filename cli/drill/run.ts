import { mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listProcesses } from '../../src/actors/process/face.ts';
import { systemClock as clock } from '../../src/runtime/face.ts';
import type { Environment } from '../../src/store/face.ts';
import { AcpTalk, type TimedReply } from '../../testing/acp/acpTalk.ts';
import { type StartedAgent, startAgent } from '../../testing/acp/startAgent.ts';
import { faultyMcpServer, faultyModelApi } from '../../testing/index.ts';
import { loopbackAgent } from '../../testing/loopbackAgents.ts';
import { ownLauncher } from '../install/ownLauncher.ts';
import { counted } from '../text.ts';
import type { Got, Row, Target } from './rows.ts';

/** Answer as its client was told it, or made of it, and whether the next call worked. */
type Seen = { readonly got: Got; readonly text: string; readonly ms: number; readonly goesOn?: boolean };

/** Outcome of one fault; `stays` where it outlived its stdin, `asked` how often an agent asked its model. */
export type Observation = Required<Seen> & { fault: string; left: Left; stays: boolean; asked?: number | undefined };
type Left = { readonly processes: number; readonly files: number };

/** Place of a drill: a folder that goes at its end, and whether calls have effects. */
export type Place = { folder: string; env: Environment; effects: boolean; signal: AbortSignal };

/** Limits in place of the configured ones, for whose end nobody waits. */
const quick: Readonly<Record<string, readonly string[]>> = {
  mcp: ['--idle-timeout', '1s', '--call-timeout', '9s', '--no-cache'],
  hook: ['--host-timeout', '3s'],
  acp: ['--idle-timeout', '8s', '--tool-timeout', '8s', '--cancel-timeout', '2s'],
  agent: ['--timeout', '20s', '--no-output-timeout', '8s', 'Say hello.'],
};
/** Time that is waited, in ms: for a start, and for an end behind unwedge and without it. */
const [startMs, frontMs] = [20_000, 25_000];
export const bareMs = 4000;
/** Variables that an agent gets no value of, and options that are ours, or write what would stay. */
const [secret, dropped] = [/KEY|TOKEN|SECRET|PASSWORD|_URL$|_HOST$|PROXY/i, /^--(?:db|log|otel)$/];
/** Ends an agent while it is asked. */
const killer = `const c = require('child_process').spawn(process.argv[1], process.argv.slice(2), { stdio: 'inherit' });
c.on('exit', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code)));
setTimeout(() => c.kill('SIGKILL'), 8000);`;

type Asked = { talk: AcpTalk; started: StartedAgent; target: Target; limitMs: number; work: string; effects: boolean };

/** Tries one fault, in a folder of its own, and ends all that it started. */
export async function observe(target: Target, row: Row, { folder, env, effects, signal }: Place): Promise<Observation> {
  const home = mkdtempSync(join(folder, 'd'));
  const [TMPDIR, work] = [join(home, 't'), join(home, 'w')];
  for (const path of [TMPDIR, work]) mkdirSync(path);
  const model = row.model && (await faultyModelApi(row.model));
  const around = model ? { PATH: env['PATH'], ...loopbackAgent(home, model.url) } : env;
  const given = Object.entries(target.env).filter(([name]) => model === undefined || !secret.test(name));
  const ours = { TMPDIR, NODE_DISABLE_COMPILE_CACHE: '1', UNWEDGE: undefined, UNWEDGE_CONFIG: '' };
  const whole = { ...around, ...Object.fromEntries(given), ...(model && around), ...ours };
  const started = startAgent(wordsOf(target, row, effects, home), {
    env: whole,
    cwd: model ? work : target.cwd,
    clock,
  });
  const stop = (): void => void started.kill();
  signal.addEventListener('abort', stop, { once: true });
  const talk = new AcpTalk(started, clock);
  const ask = target.kind === 'server' ? askServer : model && target.front?.verb !== 'agent' ? askAgent : askExit;
  const runMs = row.on === 'hook' && row.code === undefined ? Math.min(target.clientMs ?? startMs, startMs) : undefined;
  const limitMs = runMs ?? (target.front ? frontMs : model ? 3 * bareMs : bareMs);
  const seen = await ask({ talk, started, target, limitMs, work, effects });
  const family = await started.family();
  started.stdin.end();
  const stays = (await talk.within(started.exited, limitMs)) === undefined;
  const alive = (await listProcesses()).filter(({ pid, zombie }) => !zombie && family.includes(pid));
  await started.kill();
  await model?.close();
  signal.removeEventListener('abort', stop);
  const files = readdirSync(TMPDIR, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const left = { processes: alive.length + (stays ? 1 : 0), files: files.length };
  const asked = model?.requests.length;
  const text = row.fault === 'none' && asked === 0 ? 'it asked no model of this machine' : seen.text;
  return { fault: row.fault, goesOn: true, ...seen, text, left, stays, asked };
}

/** The command line: as it is configured, with the fault before the program and a database of its own. */
function wordsOf(target: Target, row: Row, effects: boolean, home: string): readonly string[] {
  const { kind, front, reads, words, policies } = target;
  const [command = '', ...args] = words;
  const before = { command, args, ...(!effects && reads !== 'all' && { calls: [...reads] }) };
  const faults = row.act === undefined ? [] : [{ ...row.act, nth: 1, start: 1 }];
  const code = row.code ?? (kind === 'agent' && row.fault === 'killed' ? killer : undefined);
  let program = code === undefined ? words : [process.execPath, '-e', code, ...words];
  if (kind === 'server' && words.length > 0) {
    const faulty = faultyMcpServer({ before, faults, startsFile: join(home, 's') });
    program = [faulty.command, ...faulty.args];
  }
  if (front === undefined) return program;
  const { verb, options } = front;
  const own = ownLauncher(process.env);
  const kept = options.filter((word, at) => ![word, options[at - 1] ?? ''].some((each) => dropped.test(each)));
  const soon = row.on === 'hook' && row.code === undefined ? [] : (quick[verb] ?? []);
  const copy = join(home, 'copy.json');
  if (policies) writeFileSync(copy, JSON.stringify({ policies }));
  const config = policies && verb !== 'hook' ? ['--config', copy] : [];
  const ours = [own.command, ...own.args, verb, ...kept, ...config, ...soon, '--db', join(home, 'db')];
  return verb === 'agent' || program.length === 0 ? ours : [...ours, '--', ...program];
}

type Listed = { readonly tools?: readonly { readonly name: string; readonly inputSchema?: { required?: [] } }[] };

/** Lists the tools of a server and calls one: one that takes no arguments, or that no call reaches. */
async function askServer({ talk, started, target: { reads }, limitMs, effects }: Asked): Promise<Seen> {
  const clientInfo = { name: 'unwedge drill', version: '1' };
  const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  const greeted = await talk.ask(1, 'initialize', hello, startMs);
  if (greeted.result === undefined) return { ...told(greeted, started), goesOn: false };
  talk.wire.notify('notifications/initialized', {});
  const listed = await talk.ask(2, 'tools/list', {}, startMs);
  const { tools = [] } = (listed.result ?? {}) as Listed;
  const reaches = (name: string): boolean => effects || reads === 'all' || reads.includes(name);
  const free = tools.find((each) => reaches(each.name) && !each.inputSchema?.required?.length);
  const tool = free ?? tools.find((each) => !reaches(each.name));
  const call = async (id: number, isList = false): Promise<Seen> => {
    // An equal call would join the one that its limit ended.
    const params = tool && { name: tool.name, arguments: free ? {} : { drill: id } };
    const method = isList ? 'tools/list' : params ? 'tools/call' : 'ping';
    return told(await talk.ask(id, method, isList ? {} : (params ?? {}), limitMs), started);
  };
  const first = listed.result === undefined && tool === undefined ? told(listed, started) : await call(3);
  let next = await call(4, free !== undefined && first.got !== 'answer');
  // One that is started anew may say that it is not there yet.
  for (let id = 5; next.got === 'error' && id < 8; id++) next = await call(id, free !== undefined);
  const goesOn = next.got === 'answer';
  const called = tool && `; called: ${tool.name}${free ? '' : ', answered in its place'}`;
  if (first.got === 'answer')
    return {
      ...(goesOn ? { ...first, text: `answered (${counted(tools.length, 'tool')}${called ?? ''})` } : next),
      goesOn,
    };
  return { ...first, goesOn };
}

/** Reads a reply as its client does. */
function told({ ms, result, error, isClosed, isLate }: TimedReply, started: StartedAgent): Seen {
  const { isError, content } = (result ?? {}) as { isError?: boolean; content?: { text?: string }[] };
  if (isLate) return { got: 'nothing', text: 'nothing', ms };
  const errors = [started.lastError()].filter((line) => line !== '');
  if (isClosed) return { got: 'error', text: ['connection closed', ...errors].join(': '), ms };
  const wrong = error?.message ?? (isError ? (content?.[0]?.text ?? 'an error') : undefined);
  return { got: wrong === undefined ? 'answer' : 'error', text: wrong ?? 'an answer', ms };
}

async function askAgent({ talk, started, work, limitMs }: Asked): Promise<Seen> {
  await talk.ask(1, 'initialize', { protocolVersion: 1, clientCapabilities: {} }, startMs);
  const opened = await talk.ask(2, 'session/new', { cwd: work, mcpServers: [] }, startMs);
  const { sessionId } = (opened.result ?? {}) as { sessionId?: string };
  if (sessionId === undefined) return told(opened, started);
  const reply = await talk.prompt(3, sessionId, 'Say hello.', limitMs);
  const { stopReason } = (reply.result ?? {}) as { stopReason?: string };
  if (stopReason === undefined) return told(reply, started);
  return { got: stopReason === 'end_turn' ? 'answer' : 'error', text: stopReason, ms: reply.ms };
}

/** Runs a hook, or a command that asks an agent, to its end. */
async function askExit({ talk, started, target: { kind, event }, work, limitMs }: Asked): Promise<Seen> {
  const said = { hook_event_name: event, session_id: 'drill', cwd: work, tool_name: 'Read', tool_input: {} };
  started.stdout.resume();
  started.stdin.end(kind === 'hook' ? JSON.stringify(said) : '');
  const begun = clock.now();
  const how = await talk.within(started.exited, limitMs);
  const ms = Math.round(clock.now() - begun);
  if (how === undefined) return { got: 'nothing', text: 'no end', ms };
  const got = kind === 'hook' ? (how === 'exit 2' ? 'declined' : 'allowed') : how === 'exit 0' ? 'answer' : 'error';
  return { got, text: started.lastError().replace(/^unwedge: hook [^:]*: /, '') || how, ms };
}
