import { spawn } from 'node:child_process';
import { type Values, list, text } from '../src/policy/options/face.ts';
import { parseRpc } from '../src/protocol/face.ts';
import { type Answer, type ClientMessage, textResult } from './faultyMcpAnswers.ts';
import type { ReadMcpFault } from './mcpFaults.ts';
import { wholeLines } from './wholeLines.ts';

/** A real server that a faulty one stands in front of. */
export const frontKeys = {
  command: text({ required: true }),
  /** @defaultValue [] */
  args: list(text({ empty: true, required: true }), { expected: 'an array of strings' }),
  /** Tools whose calls reach it; each other call is answered in its place, so that it has no effect. @defaultValue all */
  calls: list(text({ required: true }), { expected: 'an array of strings' }),
};

/** Faults that befall the answer of the real server; without one the others befall the message. */
const ofAnswers = /^(?:slow|late|partial_line|noise|wrong_id|duplicate_answer)$/;

type Befall = (fault: ReadMcpFault, to: ClientMessage, answer: Answer) => void;
type Acts = { write(text: string): void; befall: Befall; send(to: ClientMessage, answer: Answer): void };

/** Starts the real server; it ends with this process, and this process with it. */
export function startRealServer({ command, args = [], calls }: Values<typeof frontKeys>, acts: Acts) {
  const befallen = new Map<unknown, { readonly fault: ReadMcpFault; readonly message: ClientMessage }>();
  const child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = wholeLines((line) => {
    const reply = parseRpc(line);
    const due = reply.kind === 'result' || reply.kind === 'error' ? befallen.get(reply.id) : undefined;
    if (due === undefined) return acts.write(`${line}\n`);
    befallen.delete(due.message.id);
    acts.befall(
      due.fault,
      due.message,
      reply.kind === 'error' ? { error: reply.error } : (reply as { result: object }),
    );
  });
  child.stdout.on('data', (chunk: Buffer) => lines.push(chunk));
  child.stdin.on('error', () => undefined);
  child.on('error', ({ message }) => process.stderr.write(`${message}\n`, () => process.exit(127)));
  child.on('close', (code, signal) => (signal ? process.kill(process.pid, signal) : process.exit(code ?? 1)));
  return {
    /** Passes a line on, with the fault that is to befall its answer, or answers in the place of the server. */
    take(line: string, message?: ClientMessage, fault?: ReadMcpFault): void {
      const isKept = message?.method === 'tools/call' && calls?.includes(String(message.params['name'])) === false;
      const answer = { result: isKept ? textResult('The call was not passed on to the server.') : {} };
      if (message !== undefined && isKept && fault === undefined) return acts.send(message, answer);
      const waits =
        fault !== undefined && (ofAnswers.test(fault.do) || (fault.do === 'crash' && fault.when === 'after'));
      if (message !== undefined && fault !== undefined) {
        if (isKept || !waits) return acts.befall(fault, message, answer);
        befallen.set(message.id, { fault, message });
      }
      child.stdin.write(`${line}\n`);
    },
    end: (): void => void child.stdin.end(),
    kill: (): void => void child.removeAllListeners('close').kill('SIGKILL'),
  };
}
