import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { PersistedBreaker } from '../../src/policy/records/persistedBreaker.ts';
import { openDatabase } from '../store/startStore.ts';

export const main = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** The path of a program of test/fixtures. */
export const fixture = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url));

export interface RanRun {
  readonly code: number | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** `unwedge run` as a process of its own. */
export interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly pid: number;
  /** Resolves with what was written on stdout so far once that matches. */
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  readonly ended: Promise<RanRun>;
}

/** A place for the databases and temporary files of a test. */
export interface Place {
  readonly directory: string;
  readonly db: string;
  /** Starts `unwedge run`; its stdin stays open, its streams are read. */
  start(words: readonly string[], options?: StartOptions): Run;
  /** Runs it with an empty stdin to its end. */
  run(words: readonly string[], stdin?: string): Promise<RanRun>;
  breaker(name: string): (PersistedBreaker & { readonly lease_owner: string | null }) | undefined;
  /** What is in its directory, besides what Node keeps there for itself. */
  left(): string[];
  /** The time of the next probe is now. */
  makeDue(): void;
}

interface StartOptions {
  /** Whether nobody reads stdout for now. @defaultValue false */
  readonly unread?: boolean;
}

export function startPlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'unwedge-run-'));
  const db = join(directory, 'runs.sqlite');
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const env = { PATH: process.env['PATH'], HOME: directory, TMPDIR: directory, UNWEDGE_DB: db };

  function start(words: readonly string[], { unread = false }: StartOptions = {}): Run {
    const child = spawn(process.execPath, [main, 'run', ...words], { env });
    onTestFinished(() => void child.kill('SIGKILL'));
    const chunks: Buffer[] = [];
    let stderr = '';
    if (!unread) child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk) => (stderr += String(chunk)));
    child.stdin.on('error', () => undefined);
    const ended = once(child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: Buffer.concat(chunks),
      stderr,
    }));
    return {
      child,
      pid: child.pid ?? 0,
      ended,
      seen: (pattern) =>
        new Promise((resolve, reject) => {
          const look = (): void => {
            const found = pattern.exec(Buffer.concat(chunks).toString());
            if (found !== null) resolve(found);
          };
          child.stdout.on('data', look);
          void ended.then((ran) => reject(new Error(`It ended before that: ${ran.code} ${ran.stderr}`)));
          look();
        }),
    };
  }

  return {
    directory,
    db,
    start,
    run(words, stdin = '') {
      const { child, ended } = start(words);
      child.stdin.end(stdin);
      return ended;
    },
    breaker: (name) => openDatabase(db).prepare('SELECT * FROM unwedge_breakers WHERE name = ?').get(name) as never,
    left: () => readdirSync(directory).filter((name) => name !== 'node-compile-cache'),
    makeDue: () => openDatabase(db).exec('UPDATE unwedge_breakers SET open_until = 1'),
  };
}
