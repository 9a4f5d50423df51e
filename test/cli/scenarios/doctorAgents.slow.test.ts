import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { hasSqlite } from '../../store/startStore.ts';
import { root, startPatient } from '../startPatient.ts';

describe.skipIf(!hasSqlite)('unwedge doctor about agents', () => {
  it('[E-2] finds programs of agents that are not there, not executable, or behind an unwedge that is gone', () => {
    const { home, bin, doctor, paste } = startPatient();
    const claude = join(home, '.claude.json');
    const tool = join(bin, 'my tool');
    writeFileSync(tool, '#!/bin/sh\n', { mode: 0o644 });
    const servers = {
      missing: { command: 'no-such-program' },
      closed: { command: tool },
      gone: { command: '/nonexistent/unwedge', args: ['mcp', '--', 'sh', '-c', 'true'] },
      fine: { command: 'sh' },
      off: { command: 'no-such-program', disabled: true },
      elsewhere: { type: 'http', url: 'https://mcp.example' },
      filled: { command: '${HOME}/server' },
    };
    writeFileSync(claude, JSON.stringify({ mcpServers: servers }));
    const { code, findings, find } = doctor();
    expect(code).toBe(1);
    expect(findings.filter(({ status }) => status === 'fail').map(({ fix }) => fix)).toEqual([
      `\${EDITOR:-vi} ${claude}`,
      `chmod +x '${tool}'`,
      'unwedge install claude',
    ]);
    expect(find('agent.program')?.summary).toBe(
      `missing of ${claude} cannot start: there is no program no-such-program`,
    );
    paste(`chmod +x '${tool}'`);
    paste('unwedge install claude');
    expect(doctor().findings.filter(({ status }) => status === 'fail')).toMatchObject([
      { summary: find('agent.program')?.summary },
    ]);
  });

  it('[E-2] does not take what npx alone finds for what an agent finds', () => {
    const { home, bin, doctor } = startPatient();
    const folder = join(home, 'work', 'node_modules', '.bin');
    mkdirSync(folder, { recursive: true });
    renameSync(join(bin, 'unwedge'), join(folder, 'unwedge'));
    const server = { command: 'unwedge', args: ['mcp', '--', 'sh', '-c', 'true'] };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: { kb: server } }));
    const path = { PATH: `${folder}:${bin}:/usr/bin:/bin` };
    const byNpx = doctor([], { ...path, npm_config_user_agent: 'npm/10.8.2 node/v20.20.2 linux x64' });
    expect(byNpx.code).toBe(1);
    expect(byNpx.find('agent.launcher')?.fix).toMatch(/^npm install --global unwedge@/);
    expect(byNpx.find('agent.launcher')?.summary).toContain('one in node_modules is found by npm alone');
    expect(byNpx.find('path')?.summary).toContain('is not on PATH');
    // Who has the folder on a PATH of their own has agents that find it.
    expect(doctor([], path)).toMatchObject({ code: 0, troubles: [] });
  });

  it('[E-2] finds files that their agent cannot read, each by the rules of its agent', () => {
    const { home, doctor } = startPatient();
    mkdirSync(join(home, '.cursor'));
    mkdirSync(join(home, '.codex'));
    writeFileSync(join(home, '.cursor', 'mcp.json'), '{ "mcpServers": { "kb": { "command": "sh" } } }');
    writeFileSync(join(home, '.claude.json'), '{ // no comment is allowed here\n "mcpServers": {} }');
    writeFileSync(join(home, '.codex', 'config.toml'), '[mcp_servers.kb]\ncommand = "sh\n');
    const { code, findings } = doctor();
    expect(code).toBe(1);
    expect(findings.filter(({ id }) => id === 'agent.unreadable').map(({ fix }) => fix)).toEqual([
      `\${EDITOR:-vi} ${join(home, '.claude.json')}`,
      `\${EDITOR:-vi} ${join(home, '.codex', 'config.toml')}`,
    ]);
    expect(findings.find(({ id }) => id === 'agent')?.summary).toContain('1 server, hook or agent in');
  });

  it('[A-6] finds agents of editors whose program is gone, or that are behind an unwedge that is', () => {
    const { home, doctor, paste } = startPatient();
    const path = join(home, '.jetbrains', 'acp.json');
    mkdirSync(join(home, '.jetbrains'));
    const gone = { command: '/nonexistent/unwedge', args: ['acp', '--name', 'gone', '--', 'sh'] };
    writeFileSync(
      path,
      JSON.stringify({ agent_servers: { gone, missing: { command: 'no-such-agent', args: ['acp'] } } }),
    );
    const { code, findings } = doctor();
    expect([code, findings.filter(({ status }) => status === 'fail')]).toMatchObject([
      1,
      [
        { fix: 'unwedge install jetbrains' },
        { summary: `missing of ${path} cannot start: there is no program no-such-agent` },
      ],
    ]);
    expect(findings.find(({ id }) => id === 'agent')?.summary).toContain(
      'JetBrains AI Assistant: 2 servers, hooks and agents in',
    );
    paste('unwedge install jetbrains');
    expect(doctor().findings.filter(({ status }) => status === 'fail')).toHaveLength(1);
  });

  it('[E-2] starts the servers of the user with --probe alone, and those of a project never', () => {
    const { home, doctor } = startPatient();
    const everything = join(root, 'node_modules', '@modelcontextprotocol', 'server-everything', 'dist', 'index.js');
    const witness = join(home, 'started');
    const dies = { command: '/bin/sh', args: ['-c', `echo started >> '${witness}'; exit 3`] };
    const servers = { good: { command: process.execPath, args: [everything] }, dies };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    writeFileSync(
      join(home, 'work', '.mcp.json'),
      JSON.stringify({ mcpServers: { hostile: { ...dies, args: ['-c', `echo project >> '${witness}'`] } } }),
    );
    expect(doctor().troubles).toEqual(['agent.unapproved']);
    expect(existsSync(witness)).toBe(false);
    const { code, findings } = doctor(['--probe']);
    expect(code).toBe(1);
    const probes = findings.filter(({ id }) => id === 'probe');
    expect(probes.map(({ status, summary }) => `${status} ${summary}`)).toEqual([
      expect.stringMatching(/^ok good of Claude Code starts, and has \d+ tools$/) as unknown,
      expect.stringMatching(/^fail dies of Claude Code does not start: /) as unknown,
    ]);
    expect(readFileSync(witness, 'utf8')).not.toContain('project');
  });

  it('[E-2] [O-9] says at once why a server ends before it is up, also behind unwedge, with the line of its stderr that says what is wrong', () => {
    const { home, doctor } = startPatient();
    const gone = [process.execPath, join(home, 'nothere.mjs')];
    const servers = {
      gone: { command: process.execPath, args: gone.slice(1) },
      wrapped: { command: 'unwedge', args: ['mcp', '--', ...gone] },
    };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    const { findings } = doctor(['--probe']);
    const why = `connection closed: Error: Cannot find module '${gone[1]}'`;
    expect(findings.filter(({ id }) => id === 'probe').map(({ summary }) => summary)).toEqual([
      `gone of Claude Code does not start: ${why}`,
      `wrapped of Claude Code does not start: ${why}`,
    ]);
  });

  it('[E-2] names the command that brings back an unwedge that was started by its name', () => {
    const { home, bin, doctor } = startPatient();
    const tools = join(home, 'tools');
    mkdirSync(tools);
    for (const name of ['sh', 'node']) symlinkSync(join(name === 'sh' ? '/bin' : bin, name), join(tools, name));
    const servers = { kb: { command: 'unwedge', args: ['mcp', '--', 'sh'] } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    expect(doctor().find('agent.launcher')).toBeUndefined();
    const guard = { type: 'command', command: "unwedge hook --on-failure block -- sh -c 'true'" };
    const hooks = { PreToolUse: [{ matcher: 'Bash', hooks: [guard] }] };
    mkdirSync(join(home, '.claude'), { recursive: true });
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify({ hooks }));
    expect(
      doctor([], { PATH: tools })
        .findings.filter(({ id }) => id === 'agent.launcher')
        .map(({ summary }) => summary),
    ).toEqual([
      expect.stringMatching(/^kb .*: it cannot start$/),
      expect.stringMatching(/: it cannot start, and blocks nothing$/),
    ]);
    expect(doctor([], { PATH: tools }).find('agent.launcher')).toMatchObject({
      status: 'fail',
      fix: expect.stringMatching(/^npm install --global unwedge@\d/) as unknown,
    });
  });

  it('[E-2] names commands of unwedge so that a shell that does not find it can run them', () => {
    const { home, doctor } = startPatient();
    const servers = { moved: { command: '/nonexistent/unwedge', args: ['mcp', '--', 'sh'] } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    expect(doctor().find('agent.launcher')?.fix).toBe('unwedge install claude');
    expect(doctor([], { PATH: '/usr/bin:/bin' }).find('agent.launcher')?.fix).toMatch(
      /^npx unwedge@\d\S* install claude$/,
    );
  });

  it('[E-2] does not start what a policy denies, not even with --probe', () => {
    const { home, doctor } = startPatient();
    const witness = join(home, 'started');
    const servers = { banned: { command: '/bin/sh', args: ['-c', `echo x >> '${witness}'`] } };
    writeFileSync(join(home, '.claude.json'), JSON.stringify({ mcpServers: servers }));
    mkdirSync(join(home, '.claude'));
    const denied = { deniedMcpServers: [{ serverName: 'banned' }] };
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(denied));
    expect(doctor(['--probe']).troubles).toEqual(['agent.denied']);
    expect(existsSync(witness)).toBe(false);
  });
});
