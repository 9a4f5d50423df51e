// The program of `faultyAcpAgent`: its one argument is the script, as JSON.
import { appendFileSync, writeSync } from 'node:fs';
import { wholeLines } from '../wholeLines.ts';
import { AcpPeer } from './acpPeer.ts';
import type { AcpScript } from './acpScript.ts';

const script = JSON.parse(process.argv[2] ?? '{}') as AcpScript;
const { stdin, stdout, stderr } = process;

const peer = new AcpPeer(script, {
  clock: { setTimeout: (callback, ms) => void setTimeout(callback, ms) as never },
  write: (text) => void stdout.write(text),
  warn: (text) => void writeSync(2, `${text}\n`),
  exit(end) {
    // Output that is still on its way to a pipe would be lost: on some systems pipes are written behind.
    stdout.write('', () => {
      if ('code' in end) process.exit(end.code);
      process.kill(process.pid, end.signal);
    });
  },
  // Neither a message, nor a timer, nor the end of stdin gets through any more.
  block: () => void setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)),
});
const lines = wholeLines((line) => {
  if (script.transcriptFile !== undefined)
    appendFileSync(script.transcriptFile, `${JSON.stringify({ pid: process.pid, atMs: Date.now(), line })}\n`);
  peer.receive(line);
});

if (script.ignoreSigterm) process.on('SIGTERM', () => void stderr.write('not now\n'));
if (script.stdinEnd !== 'exit') setInterval(() => undefined, 1_000_000);
// A reader that closed the pipe does not want to hear about it.
stdout.on('error', () => undefined);
stdin.on('error', () => undefined);
stdin.on('data', (chunk: Buffer) => lines.push(chunk));
stdin.on('end', () => peer.stdinEnded());
// Last: a test that waits for this line may send a signal at once.
if (script.stderr !== undefined) stderr.write(`${script.stderr}\n`);
peer.started();
