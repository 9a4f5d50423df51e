import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { execa } from 'execa';
import { transformSync } from 'rolldown/utils';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClaude } from '../../agents/claude/index.ts';
import { createGateway } from '../../src/index.ts';
import { type FailureKind, failureKinds } from '../../src/policy/failures/failure.ts';
import { builtAcpAgent } from '../support/acpWire.ts';
import { fakeClaude } from '../support/fakeClaude.ts';
import { faultyServer } from '../support/faultyServer.ts';
import { temporaryDirectory, wholeLines } from '../support/temporary.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const main = join(root, 'dist/cli/main.js');
const fixture = (name: string): string => join(root, 'test/fixtures', name);
const read = (page: string): string => readFileSync(join(root, 'docs/guides', page), 'utf8');
/** Each a task; README.md is their list. */
const pages = readdirSync(join(root, 'docs/guides'))
  .filter((name) => name !== 'README.md')
  .sort();

interface Block {
  readonly language: string;
  readonly code: string;
  /** What it prints, where the page shows that. */
  readonly output: string | undefined;
}

/** The blocks of a page; one of text right below another is what that one prints. */
const blocksOf = (page: string): readonly Block[] =>
  [...read(page).matchAll(/^```(\w+)\n([\s\S]*?)^```(?:\n\n```text\n([\s\S]*?)^```)?/gm)].map(
    ([, language = '', code = '', output]) => ({ language, code, output }),
  );

const wholeFile = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');

const isProgram = ({ language }: Block): boolean => language === 'ts' || language === 'js';

/** The file that a block is, as its first line says: `// server.mjs`, `# backup.sh`; of a script the line below `#!`. */
const nameOf = ({ code }: Block): string | undefined =>
  /^(?:#!.*\n)?(?:\/\/|#) ([\w.-]+\.(?:mjs|ts|json|sh))(?:: .*)?\n/.exec(code)?.[1];

const withoutTypes = (code: string): string => transformSync('program.ts', code, { lang: 'ts' }).code;

/** What the fake agents answer, a run each: Claude is overloaded first. */
const claudeScript = [
  { status: 529, error: 'API Error: 529 Overloaded' },
  { text: 'Two files changed.', tools: [] },
];
const params = { threadId: '$thread', turnId: '$turn' };
const codexTurn = [
  ['usual'],
  [
    'send',
    {
      method: 'item/completed',
      params: { ...params, item: { type: 'agentMessage', id: 'm1', text: 'It is a library.' } },
    },
  ],
  [
    'send',
    {
      method: 'turn/completed',
      params: { threadId: '$thread', turn: { id: '$turn', status: 'completed', items: [] } },
    },
  ],
];

interface Desk {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** A directory as a reader of the page has it: with the files that it shows, what is installed, and agents on the PATH. */
function deskOf(page: string): Desk {
  const cwd = temporaryDirectory();
  const bin = join(cwd, '.bin');
  const installed = join(cwd, 'node_modules');
  for (const directory of [bin, installed, join(installed, '.bin')]) mkdirSync(directory);
  symlinkSync(root, join(installed, 'unwedge'));
  symlinkSync(main, join(installed, '.bin', 'unwedge'));
  for (const name of readdirSync(join(root, 'node_modules')))
    if (!name.startsWith('.')) symlinkSync(join(root, 'node_modules', name), join(installed, name));
  const program = (name: string, ...lines: readonly string[]): void => {
    writeFileSync(join(bin, name), ['#!/bin/sh', ...lines, ''].join('\n'));
    chmodSync(join(bin, name), 0o755);
  };
  program('unwedge', `exec ${process.execPath} ${main} "$@"`);
  const server = `exec ${process.execPath} "${installed}/$package/dist/index.js" "$@"`;
  program(
    'npx',
    '[ "$1" = -y ] && shift',
    'package=$1; shift',
    '[ "$package" = unwedge ] && exec unwedge "$@"',
    server,
  );
  program('claude', `exec ${process.execPath} ${fixture('deskClaude.mjs')} "$@"`);
  const goose = builtAcpAgent({ like: 'goose' });
  program('goose', `exec '${[goose.command, ...goose.args].join("' '")}'`);
  program('codex', `exec ${process.execPath} ${fixture('codexAppServer.mjs')} "$@"`);
  writeFileSync(join(bin, 'script.json'), JSON.stringify(claudeScript));
  for (const block of blocksOf(page)) {
    const name = nameOf(block);
    if (name === undefined) continue;
    const text = isProgram(block) ? withoutTypes(block.code) : block.code.replace(/^\/\/.*\n/, '');
    writeFileSync(join(cwd, name.replace(/\.ts$/, '.mjs')), text, { mode: 0o755 });
  }
  const env = {
    HOME: cwd,
    XDG_STATE_HOME: join(cwd, '.state'),
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    FAKE_CLAUDE: bin,
    FAKE_CODEX: JSON.stringify({ 'turn/start': [codexTurn] }),
  };
  return { cwd, env };
}

/** What a process says of itself, as the pages show it. */
function anywhere(output: string): string {
  return output.replaceAll(/\([\w.-]+, pid \d+ on [^)]+\)/g, '(gateway.mjs, pid 4711 on web-1)');
}

async function outputOf({ language, code }: Block, { cwd, env }: Desk): Promise<string> {
  const shell = language === 'sh';
  if (!shell) writeFileSync(join(cwd, 'program.mjs'), withoutTypes(code));
  const [command, args] = shell ? ['bash', ['-c', code]] : [process.execPath, ['program.mjs']];
  const { stdout, stderr } = await execa(command, args, { cwd, env, reject: false, stdin: 'ignore' });
  return stdout === '' ? stderr : stdout;
}

describe.each(pages)('docs/guides/%s', (page) => {
  const blocks = blocksOf(page);
  const shown = blocks.filter(({ output }) => output !== undefined);

  it('[U-6] [U-7] prints what it shows', async () => {
    // In the order of the page and in one place, as its reader does it.
    const desk = deskOf(page);
    for (const block of shown) expect(`${anywhere(await outputOf(block, desk))}\n`).toBe(block.output);
  });

  it.each(blocks.filter(({ code }) => code.includes("from 'vitest'")))(
    '[U-6] shows a test that passes',
    async (block) => {
      const { cwd, env } = deskOf(page);
      writeFileSync(join(cwd, 'shown.test.mjs'), withoutTypes(block.code));
      const { exitCode, stdout } = await execa('vitest', ['run', '--root', cwd], {
        cwd,
        env,
        localDir: root,
        preferLocal: true,
        reject: false,
      });
      expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 });
    },
  );

  it('[U-6] shows at least one program that is run', () => {
    const isWhatItIsAbout = page === 'cron.md' ? ({ language }: Block) => language === 'sh' : isProgram;
    expect(shown.filter(isWhatItIsAbout).length).toBeGreaterThan(0);
  });
});

describe('docs/guides/runbook.md', () => {
  it('[O-1] [U-6] has the statements that delete what is kept of a session', async () => {
    const store = join(temporaryDirectory(), 'gateway.sqlite');
    const gateway = createGateway({ store, control: false });
    const server = faultyServer({ faults: [{ tool: 'pay', do: 'tool_error' }] });
    const shop = gateway.mcpServer('shop', { ...server, policy: { restartWaitMs: 60_000 } });
    const session = gateway.session('agent:main', {
      onMessage: ({ text }, turn) => turn.tool(shop, 'pay', { to: text }),
    });
    await gateway.start();
    const accepted = await session.send({ kind: 'user', text: 'Rosa-7391' });
    if (accepted.accepted) await accepted.processed;
    await gateway.stop();

    const database = new Database(store);
    database.pragma('wal_checkpoint(TRUNCATE)');
    expect(readFileSync(store).includes('Rosa-7391')).toBe(true);
    const kept = database.prepare("SELECT metadata FROM events WHERE event_type = 'tool_error'").all();
    expect(JSON.stringify(kept)).toContain('Rosa-7391');
    database.exec(blocksOf('runbook.md').find(({ language }) => language === 'sql')?.code ?? '');
    database.close();
    expect(readFileSync(store).includes('Rosa-7391')).toBe(false);
  });
});

describe('docs/guides/cron.md', () => {
  const blocks = blocksOf('cron.md');

  it('[U-6] shows examples/nightly.sh as it is, and scripts that the shell understands', async () => {
    const [example] = blocks;
    expect(example?.code).toBe(readFileSync(join(root, 'examples/nightly.sh'), 'utf8'));
    for (const { code } of blocks.filter((each) => each.language === 'sh'))
      expect(await execa('bash', ['-n'], { input: code })).toMatchObject({ stderr: '' });
  });

  it('[U-6] has the lines of a crontab for the scripts that it shows', () => {
    const scripts = blocks.map(nameOf).filter((name) => name !== undefined);
    const lines =
      blocks
        .find(({ language }) => language === 'crontab')
        ?.code.trimEnd()
        .split('\n') ?? [];
    const jobs = lines.filter((line) => !/^[A-Z]+=\S+$/.test(line));
    expect(jobs.map((line) => /^\d+ \d+(?:-\d+)? \* \* \* \/srv\/reports\/(\S+)$/.exec(line)?.[1])).toEqual(scripts);
  });

  it.skipIf(spawnSync('curl', ['--version']).error !== undefined)(
    '[U-6] has an alarm that tells a webhook of failed nights, and nothing while there are reports',
    async () => {
      const { cwd, env } = deskOf('cron.md');
      const told: { type: string | undefined; body: string }[] = [];
      let status = 204;
      const webhook = createServer((request, response) => {
        void text(request).then((body) => {
          told.push({ type: request.headers['content-type'], body });
          response.writeHead(status).end();
        });
      });
      await new Promise<void>((resolve) => webhook.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void webhook.close());
      const ALARM = `http://127.0.0.1:${(webhook.address() as AddressInfo).port}/alarm`;
      const alarm = () =>
        execa(join(cwd, 'alarm.sh'), { cwd: '/', env: { ...env, ALARM, NO_PROXY: '*' }, reject: false });

      // On a new installation it says nothing.
      expect(await alarm()).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
      expect(told).toEqual([]);
      utimesSync(join(cwd, 'alarm.sh'), 0, 0);
      // Without a database, too, its body is JSON.
      expect(await alarm()).toMatchObject({ exitCode: 0 });
      expect(told.splice(0).map(({ body }) => body.trim())).toEqual(['[]']);

      const failing = ['run', '--name', 'nightly-report', '--', 'sh', '-c', 'kill -9 $$'];
      await execa(process.execPath, [main, ...failing], { cwd, env, reject: false });
      writeFileSync(join(cwd, 'report-2026-01-01.json'), '{}');
      expect(await alarm()).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
      expect(told).toEqual([]);

      rmSync(join(cwd, 'report-2026-01-01.json'));
      expect(await alarm()).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
      expect(told.map(({ type }) => type)).toEqual(['application/json']);
      expect(JSON.parse(told[0]?.body ?? '')).toMatchObject([
        { category: 'integration', type: 'failure', metadata: { integration: 'nightly-report' } },
      ]);

      status = 500;
      const refused = await alarm();
      expect([refused.exitCode, refused.stderr]).toEqual([22, expect.stringContaining('500')]);
    },
  );

  it('[U-6] tells in the morning what the log has of today, that a run never ended, and what keeps it from being begun anew', async () => {
    const { cwd, env } = deskOf('cron.md');
    const morning = async () =>
      (await execa(join(cwd, 'morning.sh'), { cwd: '/', env, reject: false })).stdout.split('\n');
    const [today, none] = [new Date().toLocaleDateString('sv'), 'There is no report of today.'];
    const begun = `${today} 02:15:01 begun`;
    writeFileSync(join(cwd, 'nightly.log'), `2026-01-01 02:15:01 begun\n2026-01-01 02:20:00 exit 1 other \n${begun}\n`);
    writeFileSync(join(cwd, `report-${today}.json.begun`), '');
    const blocked = `It is not begun anew today unless you delete ${cwd}/report-${today}.json.begun`;
    expect(await morning()).toEqual([none, begun, 'It never ended: it was killed, or is still under way.', blocked]);
    appendFileSync(join(cwd, 'nightly.log'), `${today} 02:16:00 exit 1 unwedge: auth \n`);
    expect(await morning()).toEqual([none, begun, `${today} 02:16:00 exit 1 unwedge: auth `, blocked]);
  });

  it('[L-4] has a report in the morning of a run that was killed between its end and the move of its report', async () => {
    const { cwd, env } = deskOf('cron.md');
    const [mv, moving] = [join(cwd, '.bin/mv'), join(cwd, 'moving')];
    writeFileSync(mv, `#!/bin/sh\necho $$ >${moving}\nexec sleep 60\n`, { mode: 0o755 });
    writeFileSync(join(cwd, 'prompt.txt'), 'Sum up.');
    const nightly = execa(join(cwd, 'nightly.sh'), { cwd: '/', env, reject: false, stdio: 'ignore' });
    await expect.poll(() => wholeFile(moving), { timeout: 30_000 }).toMatch(/^\d+\n$/);
    nightly.kill('SIGKILL');
    process.kill(Number(wholeFile(moving)), 'SIGKILL');
    await nightly;
    rmSync(mv);

    const script = (name: string) => execa(join(cwd, name), { cwd: '/', env, reject: false });
    // It is not done again meanwhile.
    expect(await script('nightly.sh')).toMatchObject({ exitCode: 0, stdout: '' });
    const report = join(cwd, `report-${new Date().toLocaleDateString('sv')}.json`);
    const said = `Killed at its end; whole: ${report}`;
    expect(await script('morning.sh')).toMatchObject({ exitCode: 0, stdout: said, stderr: '' });
    expect(JSON.parse(wholeFile(report))).toMatchObject({ agent: { text: 'Two files changed.' } });
    expect(await script('morning.sh')).toMatchObject({ exitCode: 0, stdout: '' });
    expect(readdirSync(cwd).filter((name) => name.startsWith('report-'))).toHaveLength(1);
  });

  it('[U-6] has commands that show what is on record of a night', async () => {
    const desk = deskOf('cron.md');
    const nights = blocks.filter(({ code, output }) => output !== undefined && !code.startsWith('rm '));
    for (const block of nights) await outputOf(block, desk);
    const looks = blocks.find(({ code }) => code.includes('unwedge status'));
    const said = looks === undefined ? '' : await outputOf(looks, desk);
    expect(said).toMatch(/^nightly-report +closed +100 %/m);
    expect(said).toMatch(/^INTEGRATION +CALLS .*\nnightly-report +1 +100 %/m);
    expect(statSync(join(desk.cwd, '.state/unwedge')).mode & 0o777).toBe(0o700);
    expect(statSync(join(desk.cwd, '.state/unwedge/unwedge.sqlite')).mode & 0o777).toBe(0o600);
    expect(statSync(join(desk.cwd, 'nightly.log')).mode & 0o777).toBe(0o600);
  });
});

describe('docs/guides/claude-script.md', () => {
  /** The rows of the table: `errorType`, the kinds behind it, whether to ask again. */
  const rows = [
    ...read('claude-script.md').matchAll(/^\| (.+) \| (`.+`.*) \| (later.*|not as it is|when .*|in a minute) \|$/gm),
  ].map(([, type = '', kinds = '', again = '']) => ({
    type: type.replaceAll('`', ''),
    kinds: [...kinds.replaceAll(/\([^)]*\)/g, '').matchAll(/`(\w+)`/g)].map(([, kind]) => kind as FailureKind),
    again,
  }));

  it('[C-1] has every kind of failure, and says later of those that are retryable', () => {
    const { watchdog: _, ...kinds } = failureKinds;
    expect(rows.flatMap((row) => row.kinds).sort()).toEqual(Object.keys(kinds).sort());
    const refusals: readonly FailureKind[] = ['circuit_open', 'too_many_requests', 'unavailable'];
    for (const row of rows)
      for (const kind of row.kinds.filter((each) => each !== 'quota'))
        expect([kind, /later|minute/.test(row.again)]).toEqual([
          kind,
          failureKinds[kind].retried || refusals.includes(kind),
        ]);
  });

  it.each([
    ['rate_limit', 429, 'API Error: 429 slow down'],
    ['rate_limit', 529, 'API Error: 529 Overloaded'],
    ['auth', 401, 'Invalid API key'],
    ['unknown', 503, 'API Error: 503 Service Unavailable'],
    ['unknown', 400, 'API Error: 400 invalid_request_error'],
  ])('[C-1] [C-5] %s is what a script is told of HTTP %i', async (errorType, status, error) => {
    const logDir = temporaryDirectory();
    const { command, args, env } = fakeClaude({ status, error });
    const claude = createClaude({ command, args, env, logDir, retry: { maxRetries: 1 } });
    expect(await claude.invokeClaude('hi')).toMatchObject({ success: false, errorType });
    await claude.stop();
    const log = readFileSync(join(logDir, 'claude_invocations.jsonl'), 'utf8').trimEnd().split('\n');
    const isRepeated = status !== 401 && status !== 400;
    expect(log.map((line) => (JSON.parse(line) as { status: string }).status)).toEqual(
      isRepeated ? ['error', 'exhausted'] : ['error'],
    );
  });
});

describe('docs/guides/claude-script.md: steps in one session', () => {
  it('[L-4] [R-12] does no step twice after kill -9, and goes on in the session that it named', async () => {
    const { cwd, env } = deskOf('claude-script.md');
    const bin = env['FAKE_CLAUDE'] ?? '';
    const script = [{ tools: ['Edit'], hang: true }, { text: 'Edited.' }, { text: 'Two files changed.' }];
    writeFileSync(join(bin, 'script.json'), JSON.stringify(script));
    const steps = () => execa(join(cwd, 'steps.sh'), { cwd: '/', env, reject: false });
    const runs = () =>
      wholeLines(join(bin, 'runs.jsonl')).map(
        (line) => JSON.parse(line) as { args: string[]; stdin: string; pid: number },
      );

    const killed = steps();
    await expect.poll(() => existsSync(join(bin, 'hangs')), { timeout: 20_000 }).toBe(true);
    const { stdout: unwedge } = await execa('ps', ['-o', 'ppid=', '-p', String(runs()[0]?.pid)]);
    process.kill(Number(unwedge), 'SIGKILL');
    expect((await killed).exitCode).toBe(137);

    expect(await steps()).toMatchObject({ exitCode: 0, stdout: 'Two files changed.' });
    expect(await steps()).toMatchObject({ exitCode: 0, stdout: 'Two files changed.' });
    const id = readFileSync(join(cwd, 'session'), 'utf8').trim();
    expect(id).toMatch(/^[\da-f]{8}-[\da-f-]{27}$/);
    expect(runs().map(({ args, stdin }) => [args[1], args[2], stdin.trim()])).toEqual([
      ['--session-id', id, 'Edit the files.'],
      ['--resume', id, expect.stringMatching(/^Some of this may be done already.* Edit the files\.$/)],
      ['--resume', id, 'Sum up what you did.'],
    ]);
  });
});

describe('docs/guides/claude-script.md: a step that was killed before it had a session', () => {
  it('[L-4] [R-12] is not begun anew by itself, and is by the command of the page', async () => {
    const { cwd, env } = deskOf('claude-script.md');
    const unknown = 'No conversation found with session ID: s';
    const script = [{ silent: true, exit: 1, stderr: unknown }, { text: 'Edited.' }, { text: 'Two files changed.' }];
    writeFileSync(join(env['FAKE_CLAUDE'] ?? '', 'script.json'), JSON.stringify(script));
    const steps = () => execa(join(cwd, 'steps.sh'), { cwd: '/', env, reject: false });
    // As `kill -9` leaves it once the step is noted.
    for (const [name, text] of Object.entries({ session: 'an-id', 'edit.begun': 'Edit the files.' }))
      writeFileSync(join(cwd, name), text);

    const refused = await steps();
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(unknown)]);
    const [, command = ''] = /`(rm session [^`]+)`/.exec(read('claude-script.md')) ?? [];
    await execa('sh', ['-c', command], { cwd });
    expect(await steps()).toMatchObject({ exitCode: 0, stdout: 'Two files changed.' });
    const runs = wholeLines(join(env['FAKE_CLAUDE'] ?? '', 'runs.jsonl')).map(
      (line) => (JSON.parse(line) as { args: string[] }).args,
    );
    expect(runs.map(([, how]) => how)).toEqual(['--resume', '--session-id', '--resume']);
    expect(runs[1]?.[2]).not.toBe('an-id');
  });
});

describe('docs/guides/claude-and-codex.md', () => {
  it('[G-11] [U-6] keeps the id of a conversation whose gateway dies in the middle of its first turn', async () => {
    const { cwd, env } = deskOf('claude-and-codex.md');
    const shown = blocksOf('claude-and-codex.md').find(({ code }) => code.includes('gateway.session('));
    const program = withoutTypes(shown?.code ?? '').replace("'say hello'", "'flood'");
    writeFileSync(join(cwd, 'program.mjs'), program);
    const running = execa(process.execPath, ['program.mjs'], { cwd, env, reject: false, stdin: 'ignore' });
    const kept = () => wholeFile(join(cwd, 'chat-rosa.id'));
    await expect.poll(kept, { timeout: 20_000 }).toMatch(/^s-/);
    running.kill('SIGKILL');
    await running;
    expect(kept()).toMatch(/^s-/);
  });

  it('[U-4] [U-6] has a session whose second message goes on in the conversation of the first', async () => {
    const { cwd, env } = deskOf('claude-and-codex.md');
    const shown = blocksOf('claude-and-codex.md').find(({ code }) => code.includes('gateway.session('));
    const notes = join(cwd, 'notes.jsonl');
    if (shown !== undefined) await outputOf(shown, { cwd, env: { ...env, FAKE_AGENT: notes } });
    const starts = readFileSync(notes, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { pid?: number; args?: readonly string[] })
      .filter(({ args }) => args !== undefined);
    expect(starts.map(({ args }) => args?.[args.indexOf('--resume') + 1]?.startsWith('s-'))).toEqual([false, true]);
  });
});

describe('docs/guides/README.md', () => {
  it('[U-6] leads to every guide', () => {
    expect(pages.filter((page) => !read('README.md').includes(`](${page})`))).toEqual([]);
  });
});
