import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identifyNow } from '../../../src/actors/process/processIdentity.ts';
import { hasSqlite } from '../../store/startStore.ts';
import { startRecorded, startSleeper } from '../startPatient.ts';

/** A port of this machine on which nobody listens any longer. */
async function desertedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
  });
  return typeof address === 'object' && address !== null ? address.port : 0;
}

describe.skipIf(!hasSqlite)('unwedge doctor where all is wrong at once', () => {
  it('[E-2] finds each of the planted troubles, and names the command that mends it', async () => {
    const { home, tmp, db, database, doctor } = await startRecorded();
    const work = join(home, 'work');
    const at = (...path: string[]): string => join(home, ...path);
    const write = (path: string, content: unknown): string => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
      return path;
    };
    const editing = (path: string): string => `\${EDITOR:-vi} ${path}`;
    const port = await desertedPort();

    chmodSync(db, 0o644);
    const orphan = startSleeper();
    database()
      .prepare('INSERT INTO unwedge_children VALUES (?, ?, ?, ?, ?, ?, ?)')
      .run(orphan, identifyNow(orphan)?.start ?? '', 'mark', 'sleep 1000', Date.now(), process.pid, 'of before');
    write(`${db}-children-${spawnSync('/bin/true').pid}.1`, 'gone');
    const sockets = at('run', 'unwedge');
    mkdirSync(sockets, { recursive: true, mode: 0o700 });
    const socket = join(sockets, 'gone.sock');
    const left = `require('net').createServer().listen(${JSON.stringify(socket)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', left]);
    expect(existsSync(socket)).toBe(true);
    const lock = at('.claude.json.lock');
    const temporary = join(tmp, 'unwedge-output-aaaaaa');
    for (const path of [lock, temporary]) {
      mkdirSync(path);
      utimesSync(path, 0, 0);
    }
    const config = write(join(work, 'unwedge.config.json'), { alerts: { failures: -1 } });

    const closed = write(at('closed'), '#!/bin/sh\n');
    const claude = write(at('.claude.json'), {
      mcpServers: {
        missing: { command: 'no-such-program' },
        closed: { command: closed },
        moved: { command: '/nonexistent/unwedge', args: ['mcp', '--', 'sh', '-c', 'true'] },
        banned: { command: 'sh' },
        evading: { command: 'unwedge', args: ['mcp', '--', 'sh', 'banned.sh'] },
        twice: { command: 'unwedge', args: ['mcp', '--', 'sh', 'shared.sh'] },
        away: { type: 'http', url: `http://127.0.0.1:${port}/mcp` },
      },
    });
    const settings = write(at('.claude', 'settings.json'), {
      deniedMcpServers: [{ serverName: 'banned' }, { serverCommand: ['sh', 'banned.sh'] }],
      enabledPlugins: { 'tools@market': true },
      disableAllHooks: true,
      hooks: { Stop: [{ hooks: [{ type: 'command', command: 'true' }] }] },
    });
    write(at('.claude', 'plugins', 'cache', 'market', 'tools', '1.0.0', '.mcp.json'), {
      mcpServers: { shared: { command: 'sh', args: ['shared.sh'] } },
    });
    write(join(work, '.mcp.json'), { mcpServers: { ours: { command: 'sh' } } });
    const codex = at('.codex', 'config.toml');
    write(
      codex,
      `[[hooks.PreToolUse]]
matcher = "Bash"
hooks = [{ type = "command", command = "unwedge hook --keep-background --host-timeout 20s -- \\"$SHELL\\" -lc 'echo hi'", timeout = 20, statusMessage = "x" }]
[hooks.state."${codex}:pre_tool_use:0:0"]
trusted_hash = "sha256:a7bc7a9be75e2df0b8ea650efe0cbd7686ca7cb856b8a4d92b3d5f7bc8984e32"
`,
    );
    write(join(work, '.codex', 'config.toml'), '[mcp_servers.kb]\ncommand = "unwedge"\nargs = ["mcp", "--", "sh"]\n');
    const cursor = write(at('.cursor', 'mcp.json'), '{ "mcpServers": ');

    const { code, findings } = doctor([], {
      UNWEDGE_ALERTS_WINDO: '5m',
      ANTHROPIC_BASE_URL: `http://localhost:${port}`,
    });
    expect(code).toBe(1);
    const told = findings
      .filter(({ status }) => status !== 'ok')
      .map(({ id, fix }) => [id, fix].map((text) => String(text).replaceAll(home, '~')).join(': '));
    const planted = [
      ['store.open', `chmod 600 ${db}`],
      ['orphan', `kill ${orphan}`],
      ['stale', `unwedge run --db ${db} -- true`],
      ['socket.stale', `rm ${socket}`],
      ['temporary', `rm -r ${temporary}`],
      ['lock', `rmdir ${lock}`],
      ['variable.unknown', 'export UNWEDGE_ALERTS_WINDOW="$UNWEDGE_ALERTS_WINDO"; unset UNWEDGE_ALERTS_WINDO'],
      ['config.wrong', editing(config)],
      ['agent.program', editing(claude)],
      ['agent.program', `chmod +x ${closed}`],
      ['agent.launcher', 'unwedge install claude'],
      ['agent.denied', editing(settings)],
      ['agent.evaded', 'unwedge install claude --undo'],
      ['agent.doubled', 'claude mcp remove twice -s user'],
      ['agent.hooks', editing(settings)],
      ['agent.unapproved', `cd ${work} && claude`],
      ['agent.trust', 'codex'],
      ['agent.grace', 'unwedge install codex --project'],
      ['agent.untrusted', `cd ${work} && codex`],
      ['agent.unreadable', editing(cursor)],
      ['address.server', editing(claude)],
      ['address.model', 'unset ANTHROPIC_BASE_URL'],
    ].map(([id, fix]) => `${id}: ${fix?.replaceAll(home, '~')}`);
    expect(told.toSorted()).toEqual(planted.toSorted());
  });
});
