import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Logger, say } from '../../policy/text/logger.ts';
import { childProcessModule, readProcessNow } from './processTable.ts';
import { aliveLine, goneLine } from './guardLines.ts';
import { ownNonce } from './processMark.ts';
import { tryStart } from './tryStart.ts';
import { messageOf } from '../../policy/failures/thrown.ts';

/** A guard that ends sooner than this is not replaced at once: the next would too. In ms. */
const soundMs = 1000;

/**
 * Ends the children of this process should it be killed. All that need one share one.
 * Says once in a logger why there is no guard. Nothing here throws.
 */
export function createChildGuard(logger: Logger | undefined) {
  const user: User = { logger, hasSaid: false };
  return {
    /** Has the guard stand by, before a child is started: from here on it is told of the end of this process, however that comes. */
    raise(): void {
      users.add(user);
      raise();
    },
    /** Puts a child in its care; what is returned takes it out again. */
    watch(pid: number): () => void {
      // Read now, while it is our child: no other can have its pid.
      const startTime = process.platform === 'linux' ? readProcessNow(pid)?.startTime : undefined;
      live.set(pid, startTime);
      tell(aliveLine(pid, startTime));
      return () => {
        if (live.delete(pid)) tell(goneLine(pid));
      };
    },
    /** The caller needs the guard no more. Without a caller that needs it the guard is ended at once. */
    release(): void {
      users.delete(user);
      if (users.size === 0) end();
    },
  };
}

interface User {
  readonly logger: Logger | undefined;
  hasSaid: boolean;
}

const users = new Set<User>();
/** Start times by pid. */
const live = new Map<number, string | undefined>();
let guard: ChildProcess | undefined;

function raise(): void {
  if (guard !== undefined || process.platform === 'win32') return;
  const program = programs.find((path) => existsSync(path));
  if (program === undefined) {
    sayOnce('its program is not where this package was built to have it');
    return;
  }
  const startedAt = process.uptime();
  const start = tryStart(() =>
    childProcessModule().spawn(process.execPath, [program, ownNonce], {
      // In a session of its own: what a terminal or a supervisor sends to our group must not end it with us. Its stdin is a pipe whose
      // other end closes when this process ends, however it ends; nobody inherits that end.
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      // Options of Node that are meant for the host, such as a port of its debugger, are not for it.
      env: { PATH: process.env['PATH'] },
      cwd: '/',
      windowsHide: true,
    }),
  );
  if (start.child === undefined) {
    // It is no guard: to end one that is half made signals our own group (Node 20).
    void start.error.then((error) => sayOnce(messageOf(error)));
    return;
  }
  const { child: started } = start;
  guard = started;
  started.on('exit', (code, signal) => lost(started, startedAt, `it ended by ${signal ?? `exit code ${code}`}`));
  started.stdin.on('error', () => undefined);
  // Neither keeps this process: a host ends when it is done.
  started.unref();
  const { stdin }: { readonly stdin: Writable & { unref?(): unknown } } = started;
  stdin.unref?.();
  for (const [pid, startTime] of live) tell(aliveLine(pid, startTime));
}

/** Somebody ended it, or it ended by itself. */
function lost(which: ChildProcess, startedAt: number, why: string): void {
  if (guard !== which) return;
  guard = undefined;
  if (users.size > 0 && (process.uptime() - startedAt) * 1000 >= soundMs) raise();
  else sayOnce(why);
}

function end(): void {
  const last = guard;
  guard = undefined;
  // Not by the pipe: it may still be starting, and would outlive us until it has.
  last?.kill('SIGKILL');
  last?.stdin?.destroy();
}

function tell(line: string): void {
  guard?.stdin?.write(line);
}

function sayOnce(why: string): void {
  for (const user of users) {
    if (!user.hasSaid)
      say(user.logger, 'warn', `Nothing ends the children of this process should it be killed: no guard, ${why}`);
    user.hasSaid = true;
  }
}

/** Beside the bundle that holds this, or where the bundles are when this is run from its source. */
const programs = ['./', '../parts/', '../../../dist/parts/'].map((folder) =>
  fileURLToPath(new URL(`${folder}childGuardProgram.js`, import.meta.url)),
);
