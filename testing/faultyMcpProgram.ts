// The program of `faultyMcpServer`: its one argument is the script, as JSON.
import { appendFileSync, closeSync, statSync } from 'node:fs';
import { wholeLines } from './wholeLines.ts';
import {
  type Answer,
  type ClientMessage,
  createGoodAnswers,
  type GoodAnswers,
  faultyAnswer,
  progressTokenOf,
  questionOf,
} from './faultyMcpAnswers.ts';
import { startRealServer } from './faultyMcpFront.ts';
import { createFaultPicker } from './mcpAnswerFaults.ts';
import { type ReadMcpFault, toolsFrom } from './mcpFaults.ts';
import type { FaultyMcpScript } from './faultyMcpServer.ts';

const script = JSON.parse(process.argv[2] ?? '{}') as FaultyMcpScript;
const { stdin, stdout, stderr } = process;

const peer = createFaultyMcpPeer(script, countStart(script.startsFile), (text) => void stdout.write(text));
const lines = wholeLines((line) => peer.receive(line));

if (script.ignoreSigterm) process.on('SIGTERM', () => void stderr.write('not now\n'));
if (script.ignoreStdinEnd) setInterval(() => undefined, 1_000_000);
// A reader that closed the pipe does not want to hear about it.
stdout.on('error', () => undefined);
stdin.on('error', () => undefined);
stdin.on('data', (chunk: Buffer) => lines.push(chunk));
// A slow answer nobody can read any more is not waited for.
stdin.on('end', () => {
  if (!script.ignoreStdinEnd) peer.ended();
});
// Last: a test that waits for this line may send a signal at once.
if (script.stderr !== undefined) stderr.write(`${script.stderr}\n`);
peer.started();

function countStart(file: string | undefined): number {
  if (file === undefined) return 1;
  appendFileSync(file, '.');
  return statSync(file).size;
}

/**
 * The server side of a conversation, by the script.
 * @param start - which start of the server this is, from 1. @param write - to stdout.
 */
function createFaultyMcpPeer(script: FaultyMcpScript, start: number, write: (text: string) => void) {
  const ruleTools = [...new Set(script.faults.flatMap(({ tool }) => tool ?? []))];
  const answers = createGoodAnswers(script, start === 1 ? script.tools : script.toolsAfterRestart, ruleTools);
  const pick = createFaultPicker(
    script.faults,
    ({ on = 'tools/call', tool }, { method, params }: ClientMessage) =>
      on === method && (tool === undefined || tool === params['name']),
    (rule) => rule.start === undefined || rule.start === start,
  );
  const acts = createActs(answers, write, () => real?.kill());
  const real = script.before && startRealServer(script.before, { ...acts, write });

  const take = (message: ClientMessage, line: string): void => {
    if (real !== undefined) return real.take(line, message, pick(message));
    // Answered in any case: what was received is counted, a fault or not.
    const answer = answers.answer(message);
    const fault = pick(message);
    if (fault === undefined) acts.send(message, answer);
    else acts.befall(fault, message, answer);
  };

  return {
    /** The server has started. */
    started(): void {
      const message = { method: 'start', params: {} };
      const fault = pick(message);
      if (fault !== undefined) acts.befall(fault, message, { result: {} });
    },
    /** A line of the client; what is no message is passed over. */
    receive(line: string): void {
      const message = parse(line);
      if (message === undefined) return;
      if ('method' in message) take(message, line);
      else if (!acts.replied(message.id)) real?.take(line);
      if ('method' in message && message.method === 'notifications/cancelled')
        acts.cancelled(message.params['requestId']);
    },
    /** The stdin has ended. */
    ended(): void {
      if (real === undefined) process.exit();
      real.end();
    },
  };
}

/** @param lost - what goes with the server is ended. */
function createActs(answers: GoodAnswers, write: (text: string) => void, lost: () => void) {
  /** Steps once the client has cancelled a request, or replied to one of ours. */
  const onCancel = new Map<unknown, () => void>();
  const onReply = new Map<unknown, () => void>();

  const message = (content: object): void => write(`${JSON.stringify({ jsonrpc: '2.0', ...content })}\n`);
  const send = ({ id }: ClientMessage, answer: Answer): void => {
    // An answer of a real server has an id of its own.
    if (id !== undefined) message(Object.assign({ id }, answer, { id }));
  };
  const progress = ({ params }: ClientMessage, count: number): void => {
    const progressToken = progressTokenOf(params);
    if (progressToken !== undefined)
      message({ method: 'notifications/progress', params: { progressToken, progress: count } });
  };
  const report = (to: ClientMessage, count = 0): void => {
    for (let step = 1; step <= count; step++) progress(to, step);
  };

  const die = (how: Crash): void => {
    lost();
    crash(how);
  };

  const befall = (fault: ReadMcpFault, to: ClientMessage, answer: Answer): void => {
    switch (fault.do) {
      case 'crash':
        if (fault.when === 'after') send(to, answer);
        die(fault);
        return;
      case 'hang':
        report(to, fault.progress);
        if (fault.scope === 'server') setImmediate(blockForEver);
        return;
      case 'slow': {
        const { progress: steps = 0, ms } = fault;
        for (let step = 1; step <= steps; step++) setTimeout(() => progress(to, step), (ms * step) / (steps + 1));
        setTimeout(() => send(to, answer), ms);
        return;
      }
      case 'late':
        report(to, fault.progress);
        onCancel.set(to.id, () => send(to, answer));
        return;
      case 'partial_line': {
        const line = JSON.stringify({ jsonrpc: '2.0', id: to.id, ...answer });
        write(line.slice(0, line.length / 2));
        if (fault.then === 'crash') die({});
        return;
      }
      case 'noise':
        write(`${fault.text ?? 'Loading model...'}${fault.newline === false ? '' : '\n'}`.repeat(fault.times ?? 1));
        send(to, answer);
        return;
      case 'wrong_id':
        send({ ...to, id: 'nobody-asked' }, answer);
        return;
      case 'duplicate_answer':
        send(to, answer);
        send(to, answer);
        return;
      case 'malformed':
        send(to, { result: { content: 'no list', tools: 'no list', capabilities: 'none' } });
        return;
      case 'oversize':
      case 'error':
      case 'tool_error':
        send(to, faultyAnswer(fault));
        return;
      case 'ask': {
        const id = `asked-${onReply.size + 1}`;
        onReply.set(id, () => send(to, answer));
        message({ id, method: fault.method, params: questionOf(fault.method) });
        if (fault.then === 'crash') die({});
        return;
      }
      case 'change_tools':
        answers.setTools(toolsFrom(fault.tools));
        if (fault.tell !== false) message({ method: 'notifications/tools/list_changed' });
        send(to, answer);
        return;
      case 'close_pipe':
        if (fault.pipe === 'stdin') closeSync(0);
        else process.stdout.end();
        setInterval(() => undefined, 1_000_000);
        process.stderr.write('closed it\n');
        return;
    }
  };

  return {
    send,
    befall,
    cancelled: (id: unknown): void => onCancel.get(id)?.(),
    /** False where it is no reply to a question of ours. */
    replied(id: unknown): boolean {
      onReply.get(id)?.();
      return onReply.has(id);
    },
  };
}

type Crash = Omit<Extract<ReadMcpFault, { do: 'crash' }>, 'do' | 'when'>;

function crash({ exitCode = 1, signal, stderr }: Crash): void {
  const end = (): void => {
    if (signal === undefined) process.exit(exitCode);
    process.kill(process.pid, signal);
  };
  // Output that is still on its way to a pipe would be lost: on some systems pipes are written behind.
  const flushed = (): void => void process.stdout.write('', end);
  if (stderr === undefined) flushed();
  else process.stderr.write(`${stderr}\n`, flushed);
}

/** Neither a message, nor a timer, nor the end of stdin gets through any more. */
function blockForEver(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

function parse(line: string): ClientMessage | { readonly id: unknown } | undefined {
  try {
    const { id, method, params } = JSON.parse(line) as Partial<ClientMessage>;
    return typeof method === 'string' ? { id, method, params: params ?? {} } : { id };
  } catch {
    return undefined;
  }
}
