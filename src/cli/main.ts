#!/usr/bin/env node
import { constants } from 'node:os';
import type { Io } from './io.ts';
import { runCommandLine } from './run.ts';

const controller = new AbortController();
let endedBy: number | undefined;

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    const code = 128 + constants.signals[signal];
    // The first asks, so that children are stopped in order; the second does not wait for that.
    if (endedBy !== undefined) process.exit(code);
    endedBy = code;
    controller.abort(new Error(`ended by ${signal}`));
  });
}

for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // The reader is gone (`| head`); nothing that is written from now on can be of use to anyone.
    if (error.code === 'EPIPE') controller.abort(error);
    else process.exitCode = 1;
  });
}

const io: Io = {
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  isTTY: process.stdout.isTTY,
  columns: process.stdout.isTTY ? process.stdout.columns : Infinity,
  signal: controller.signal,
  now: () => Date.now(),
};

const code = await runCommandLine(process.argv.slice(2), io);
process.exitCode = endedBy ?? code;
