import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { faultyModelApi, type ModelAnswer } from '../../../testing/index.ts';
import { AcpPeer, type Answer, type Request } from './acpPeer.ts';
import type { InstalledAgent } from './agents.ts';
import { type Fault, mark, running } from './faults.ts';
import { processesOf, signalTo } from './processes.ts';

/** One prompt as the client saw it. */
export interface PromptEnd {
  /** Stop reason, `error CODE: MESSAGE`, `closed`, or `none` where its patience ended. */
  readonly end: string;
  readonly answers: number;
  /** From the act, or from the prompt where there is none, to the end; in seconds. */
  readonly seconds: number;
}

/** What was seen of one agent under one fault. */
export interface Cell {
  readonly agent: string;
  readonly version: string;
  readonly mode: 'acp' | 'headless';
  readonly way: 'bare' | 'behind';
  readonly fault: string;
  readonly prompts: readonly PromptEnd[];
  /** How often the first word of the model's text was shown in the prompt. */
  readonly shown: number;
  /** Requests that the model got for it. */
  readonly requests: number;
  /** Processes that were there 2 s after the agent's end, or our client's. */
  readonly left: readonly string[];
  /** End of the process itself, and after how long; only where that is what was looked for. */
  readonly exit?: string | undefined;
  /** End of one more prompt in the same session, the model being well again. */
  readonly next?: string | undefined;
  /** Words that the client was shown, shortened. */
  readonly text: string;
  /** Where it did not come to a prompt. */
  readonly broken?: string | undefined;
}

/** How a cell is run. */
export interface CellOptions {
  readonly patienceMs: number;
  /** Words before those of the agent; empty: bare. */
  readonly front: readonly string[];
  readonly node: string;
}

/** Of an agent that runs a command without a question, however it is told to ask. */
export const doesNotAsk = 'it did not ask';

const startMs = 90_000;
const leftAfterMs = 2000;

const round = (ms: number): number => Math.round(ms / 100) / 10;

/** Makes the place of a cell, runs it, and ends all that it started. */
export async function inPlace<Result>(
  node: string,
  run: (place: {
    readonly home: string;
    readonly cwd: string;
    readonly env: Record<string, string>;
  }) => Promise<Result>,
): Promise<Result> {
  const home = mkdtempSync(join(tmpdir(), 'fire-'));
  const cwd = join(home, 'work');
  for (const path of [cwd, join(home, 'tmp')]) mkdirSync(path);
  const env = {
    PATH: `${dirname(node)}:${process.env['PATH'] ?? ''}`,
    HOME: home,
    TMPDIR: join(home, 'tmp'),
    XDG_STATE_HOME: join(home, 'state'),
  };
  try {
    return await run({ home, cwd, env });
  } finally {
    for (const { pid } of processesOf(home)) signalTo(pid, 'SIGKILL');
    await pause(100);
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

const runsCommand = (home: string): boolean => processesOf(home).some((each) => each.command.startsWith(running));

/** Runs one agent under one fault over the Agent Client Protocol. */
export async function acpCell(agent: InstalledAgent, fault: Fault, options: CellOptions): Promise<Cell> {
  const { front, patienceMs, node } = options;
  let isWell = false;
  let isCalled = false;
  /** A request for a title has no tools, and calls none; the tool is called once. */
  const modelOf = (body: string): ModelAnswer => {
    const { tool, model } = fault;
    if (tool === undefined || agent.tool === undefined) return model;
    if (!/"(?:tools|functionDeclarations)": ?\[ ?\{/.test(body)) return model;
    if (isCalled) return fault.act === 'wait' ? model : { do: 'hang' };
    isCalled = true;
    return {
      text: 'I look. ',
      tool: { name: agent.tool.name, input: agent.tool.input(tool.command, tool.answersAfterMs !== undefined) },
    };
  };
  const api = await faultyModelApi(({ body }) => (isWell ? { text: 'well again' } : modelOf(body)));
  try {
    return await inPlace(node, async ({ home, cwd, env }) => {
      const words = [...front, ...agent.words, ...(agent.acp ?? [])];
      const asks = fault.tool?.answersAfterMs;
      const peer = new AcpPeer(
        words,
        { ...env, ...agent.env({ home, cwd, url: api.url, asks: asks !== undefined }) },
        cwd,
      );
      peer.answersAfterMs = asks ?? 0;
      const about = {
        agent: agent.name,
        version: agent.version,
        mode: 'acp',
        way: front.length === 0 ? 'bare' : 'behind',
        fault: fault.name,
      } as const;
      const nothing = { ...about, prompts: [], shown: 0, requests: 0, left: [], text: '' };
      const made = await startSession(peer, cwd);
      if (typeof made !== 'string') return { ...nothing, broken: shorten(made.why + peer.stderr.slice(-300)) };
      const asked = () =>
        api.requests.filter(
          ({ method, url }) => method === 'POST' && /messages|responses|completions|:stream/.test(url),
        ).length;
      const before = asked();
      const startedAt = Date.now();
      const first = prompt(peer, made, 'tell me a story');
      const acted = await act(fault, {
        peer,
        home,
        sessionId: made,
        words: agent.words,
        reached: () => {
          if (asks !== undefined) return peer.questions > 0;
          return fault.tool === undefined ? peer.textSince(startedAt) !== '' : runsCommand(home);
        },
        isBehind: front.length > 0,
      });
      if (acted === undefined) return { ...nothing, broken: asks === undefined ? 'its tool did not run' : doesNotAsk };
      const prompts = [first, ...acted.more];
      const ends = await Promise.all(prompts.map((each) => endOf(each, acted.atMs ?? startedAt, patienceMs)));
      const exit = acted.exit === undefined ? undefined : await exitOf(peer, acted.atMs ?? startedAt, patienceMs);
      // A second answer may come late.
      await pause(1500);
      const text = peer.textSince(startedAt);
      const shown = text.split(mark).length - 1;
      const requests = asked() - before;
      isWell = true;
      let left: readonly string[] =
        fault.tool !== undefined && fault.act !== 'wait' && acted.exit === undefined ? await runningAfter(home) : [];
      if (fault.act === 'kill' && front.length === 0 && left.length === 0) left = await leftAfter(home);
      const next = await nextPrompt(fault, peer, made, ends);
      if (left.length === 0) left = await endAndLook(peer, home);
      const counted = ends.map((each, index) => ({ ...each, answers: prompts[index]?.answers.length ?? 0 }));
      return { ...about, prompts: counted, shown, requests, left, exit, next, text: shorten(text) };
    });
  } finally {
    await api.close();
  }
}

async function startSession(peer: AcpPeer, cwd: string): Promise<string | { readonly why: string }> {
  const capabilities = { fs: { readTextFile: false, writeTextFile: false }, terminal: false };
  const hello = await within(
    peer.request('initialize', { protocolVersion: 1, clientCapabilities: capabilities }).first,
    startMs,
  );
  if (hello?.result === undefined) return { why: `initialize: ${said(hello)} ` };
  const made = await within(peer.request('session/new', { cwd, mcpServers: [] }).first, startMs);
  const id = made?.result?.['sessionId'];
  return typeof id === 'string' ? id : { why: `session/new: ${said(made)} ` };
}

const prompt = (peer: AcpPeer, sessionId: string, text: string): Request =>
  peer.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });

interface Acted {
  /** Time of the act in ms since the epoch; undefined: none. */
  readonly atMs?: number;
  readonly more: readonly Request[];
  /** Set where the end of the process is looked for. */
  readonly exit?: true;
}

interface Stage {
  readonly peer: AcpPeer;
  readonly home: string;
  readonly sessionId: string;
  readonly words: readonly string[];
  readonly isBehind: boolean;
  reached(): boolean;
}

async function act(fault: Fault, stage: Stage): Promise<Acted | undefined> {
  const { peer, sessionId, reached } = stage;
  if (fault.act === 'wait' && fault.tool === undefined) return { more: [] };
  if (fault.act !== 'cancel at once') {
    for (let tries = 0; tries < 150 && !reached(); tries++) await pause(100);
    await pause(1500);
  }
  if (fault.tool !== undefined && !reached()) return undefined;
  const atMs = Date.now();
  switch (fault.act) {
    case 'wait':
      return { more: [] };
    case 'cancel':
    case 'cancel at once':
      peer.notify('session/cancel', { sessionId });
      return { atMs, more: [] };
    case 'second prompt':
      return { atMs, more: [prompt(peer, sessionId, 'and another one')] };
    case 'kill':
      for (const pid of agentPids(stage)) signalTo(pid, 'SIGKILL');
      return { atMs, more: [] };
    case 'stop':
      for (const pid of agentPids(stage)) signalTo(pid, 'SIGSTOP');
      return { atMs, more: [] };
    case 'stop and cancel':
      for (const pid of agentPids(stage)) signalTo(pid, 'SIGSTOP');
      peer.notify('session/cancel', { sessionId });
      return { atMs, more: [] };
    case 'close stdin':
      peer.child.stdin?.end();
      return { atMs, more: [], exit: true };
  }
}

/** The agent itself: our child where it is bare, else the child of the proxy that has the words of the agent. */
function agentPids({ peer, home, words, isBehind }: Stage): readonly number[] {
  const own = peer.child.pid;
  // A signal to -1 is one to all.
  if (own === undefined) return [];
  if (!isBehind) return [own];
  return processesOf(home)
    .filter(({ parent, command }) => parent === own && words.every((word) => command.includes(word)))
    .map(({ pid }) => pid);
}

async function endOf(request: Request, fromMs: number, patienceMs: number): Promise<Omit<PromptEnd, 'answers'>> {
  const answer = await within(request.first, patienceMs);
  return { end: said(answer), seconds: round(Date.now() - fromMs) };
}

async function exitOf({ exited }: AcpPeer, fromMs: number, patienceMs: number): Promise<string> {
  const exit = await within(exited, Math.min(patienceMs, 20_000));
  return exit === undefined ? 'none' : `${exit}, ${round(Date.now() - fromMs)} s`;
}

/** Sends one more prompt to a session whose agent still is there. */
async function nextPrompt(
  { act: acted }: Fault,
  peer: AcpPeer,
  sessionId: string,
  ends: readonly Omit<PromptEnd, 'answers'>[],
) {
  if (acted === 'close stdin' || peer.child.exitCode !== null || peer.child.signalCode !== null) return undefined;
  if (ends.some(({ end }) => end === 'none')) return undefined;
  const sinceMs = Date.now();
  const answer = await within(prompt(peer, sessionId, 'are you well?').first, 30_000);
  const text = peer.textSince(sinceMs).includes('well again') ? '' : ' without its text';
  return said(answer) === 'end_turn' ? `end_turn${text}` : said(answer);
}

/** Ends the agent as an editor does, stdin first, then a signal, and looks what is left. */
async function endAndLook(peer: AcpPeer, home: string): Promise<readonly string[]> {
  peer.child.stdin?.end();
  if ((await within(peer.exited, 4000)) === undefined) {
    peer.child.kill('SIGTERM');
    if ((await within(peer.exited, 4000)) === undefined) peer.child.kill('SIGKILL');
  }
  return leftAfter(home);
}

/** Command that goes on 2 s after the end of its prompt. */
async function runningAfter(home: string): Promise<readonly string[]> {
  for (let waitedMs = 0; waitedMs < leftAfterMs && runsCommand(home); waitedMs += 200) await pause(200);
  return runsCommand(home) ? [running] : [];
}

async function leftAfter(home: string): Promise<readonly string[]> {
  for (let waitedMs = 0; waitedMs < leftAfterMs; waitedMs += 200) {
    if (processesOf(home).length === 0) return [];
    await pause(200);
  }
  return processesOf(home).map(({ command }) => command.replaceAll(/\S*\/(?=[^/\s]+)/g, '').slice(0, 60));
}

/** Resolves with undefined where it takes longer. */
export async function within<Value>(promise: Promise<Value>, ms: number): Promise<Value | undefined> {
  const abort = new AbortController();
  const late = pause(ms, undefined, { signal: abort.signal }).catch(() => undefined);
  try {
    return await Promise.race([promise, late]);
  } finally {
    abort.abort();
  }
}

function said(answer: Answer | undefined): string {
  if (answer === undefined) return 'none';
  if (answer.isClosed === true) return 'closed';
  if (answer.error !== undefined) {
    const { code, message, data } = answer.error;
    const kind = (data as { 'unwedge/failure'?: { kind?: unknown } } | undefined)?.['unwedge/failure']?.kind;
    return shorten(`error ${code}${typeof kind === 'string' ? ` (${kind})` : ''}: ${message}`);
  }
  return (answer.result?.['stopReason'] as string | undefined) ?? 'an answer without a stop reason';
}

/** On one line, for a table. */
export const shorten = (text: string): string => text.replaceAll(/\s+/g, ' ').trim().slice(0, 160);
