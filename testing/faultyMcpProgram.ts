// The program of `faultyMcpServer`: its one argument is the script, as JSON.
import { appendFileSync, statSync } from 'node:fs';
import { createLineSplitter } from '../src/protocol/lines.ts';
import { createFaultyMcpPeer } from './faultyMcpPeer.ts';
import type { FaultyMcpScript } from './faultyMcpServer.ts';

const script = JSON.parse(process.argv[2] ?? '{}') as FaultyMcpScript;
const { stdin, stdout, stderr } = process;

const peer = createFaultyMcpPeer(script, countStart(script.startsFile), (text) => void stdout.write(text));
const lines = createLineSplitter({
  maxBytes: 2 ** 30,
  onLine: (line) => peer.receive(line),
  onTooLong: () => undefined,
});

if (script.ignoreSigterm) process.on('SIGTERM', () => void stderr.write('not now\n'));
if (script.ignoreStdinEnd) setInterval(() => undefined, 1_000_000);
// A reader that closed the pipe does not want to hear about it.
stdout.on('error', () => undefined);
stdin.on('error', () => undefined);
stdin.on('data', (chunk: Buffer) => lines.push(chunk));
// A slow answer nobody can read any more is not waited for.
stdin.on('end', () => {
  if (!script.ignoreStdinEnd) process.exit();
});
// Last: a test that waits for this line may send a signal at once.
if (script.stderr !== undefined) stderr.write(`${script.stderr}\n`);
peer.started();

function countStart(file: string | undefined): number {
  if (file === undefined) return 1;
  appendFileSync(file, '.');
  return statSync(file).size;
}
