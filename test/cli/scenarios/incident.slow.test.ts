import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { temporaryDirectory } from '../../support/temporary.ts';
import { runBuilt } from '../startCli.ts';

const fixture = fileURLToPath(new URL('../../fixtures/troubledGateway.mjs', import.meta.url));

/** What must be in no file that leaves the machine, by where it stands. */
const planted = {
  argument: 'planted-argument-7f3a9c21',
  environment: 'planted-environment-5d8e1b40',
  header: 'planted-header-91c4aa07',
  url: 'planted-url-3b6f2e85',
  result: 'planted-result-c0d7e914',
};

/** An API that is down, and tells what it was asked with. */
async function startApi(): Promise<number> {
  const server = createServer(({ url, headers }, response) => {
    response.writeHead(503, { 'content-type': 'text/plain' });
    response.end(`Down: ${url}, authorization: ${headers.authorization}`);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** The gateway in a process of its own, after its trouble. */
async function startGateway(db: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [fixture, db, String(port), JSON.stringify(planted)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => end(child));
  await once(child.stdout, 'data');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Takes an incident home: written, looked through for what was planted, copied to another place. */
async function take(id: string, db: string): Promise<{ readonly folder: string; readonly stdout: string }> {
  const home = temporaryDirectory();
  const written = join(home, 'written');
  const { code, stdout, stderr } = await runBuilt(['incident', id, '--out', written, '--db', db]);
  expect({ code, stderr: stderr.replace(/^.*its process is gone.*\n/gm, '') }).toEqual({ code: 0, stderr: '' });
  const texts = [stdout, ...readdirSync(written).map((name) => readFileSync(join(written, name), 'latin1'))];
  for (const [place, secret] of Object.entries(planted))
    expect({ id, place, isThere: texts.some((text) => text.includes(secret)) }).toEqual({ id, place, isThere: false });
  const folder = join(home, 'copied');
  cpSync(written, folder, { recursive: true });
  return { folder, stdout };
}

interface Played {
  readonly isSame: boolean;
  readonly first?: { readonly of: string } | undefined;
  readonly lines: readonly { readonly of: string; readonly replayed?: { readonly what: string } }[];
}

async function play(folder: string): Promise<Played & { readonly code: number | undefined }> {
  const { code, stdout } = await runBuilt(['replay', folder, '--json']);
  return { first: undefined, ...(JSON.parse(stdout) as Played), code };
}

/** How each call ended in the replay, and what befell circuits and the session. */
const ends = ({ lines }: Played): readonly string[] => lines.map(({ of, replayed }) => `${of} ${replayed?.what}`);

describe.skipIf(!hasSqlite)('an incident of a real gateway', () => {
  it('[O-16] [O-8] is taken home live and after a kill, without a secret, and ends on another machine as it did', async () => {
    const db = join(temporaryDirectory(), 'gateway.sqlite');
    const port = await startApi();
    const gateway = await startGateway(db, port);

    const session = await take('agent:main', db);
    const ofSession = await play(session.folder);
    expect(ofSession).toMatchObject({ code: 0, first: undefined });
    expect(ends(ofSession)).toEqual(
      expect.arrayContaining(['session agent:main watchdog fired: tool_call', 'session agent:main turn ended well']),
    );
    const kb = await take('kb', db);
    expect(kb.stdout).toContain('1 call under way');
    const ofKb = await play(kb.folder);
    expect(ofKb).toMatchObject({ code: 0, first: undefined });
    expect(ends(ofKb)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^circuit of kb opened/), 'circuit of kb closed']),
    );
    expect(await play((await take('api', db)).folder)).toMatchObject({ code: 0, first: undefined });
    expect(await play((await take('kb-2', db)).folder)).toMatchObject({ code: 0, first: undefined });
    const live = ends(ofKb);

    await end(gateway);
    const dead = await take('kb', db);
    const ofDead = await play(dead.folder);
    expect(ofDead).toMatchObject({ code: 0, first: undefined });
    expect(ends(ofDead)).toEqual(live);

    await startGateway(db, port);
    const next = await play((await take('kb', db)).folder);
    expect(next).toMatchObject({ code: 0, first: undefined });

    // By hand: an answer becomes a failure, and a failure one of another kind.
    const failure = '"failure":{"kind":"transient","message":"by hand","outcome":"failed"}';
    const file = join(kb.folder, 'incident.json');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('"end":"answered"', `"end":"threw",${failure}`));
    expect(await play(kb.folder)).toMatchObject({ code: 1, isSame: false, first: { of: 'kb-1' } });
    writeFileSync(file, text.replace(/("what":"end","call":2,.*?"failure":\{"kind":")\w+/, '$1auth'));
    expect(await play(kb.folder)).toMatchObject({ code: 1, isSame: false, first: { of: 'kb-2' } });
  });
});
