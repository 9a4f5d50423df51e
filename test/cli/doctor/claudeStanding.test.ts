import { describe, expect, it } from 'vitest';
import { claude } from '../../../install/agents/agents.ts';
import { readDocument } from '../../../install/document.ts';
import { wordsOf } from '../../../install/entry.ts';
import { readOwnCommand } from '../../../install/launcher.ts';
import { findPrograms } from '../../../install/programs.ts';
import { claudeStanding } from '../../../cli/doctor/claudeStanding.ts';
import { servers, startInstall } from '../../install/startInstall.ts';

const wrapped = (...words: string[]) => ({ command: 'unwedge', args: ['mcp', '--', ...words] });

/** A machine with servers of the user or the project, and what is found of them, as `id: fix`. */
function startStanding(where: 'home/.claude.json' | 'work/.mcp.json', entries: object) {
  const machine = startInstall();
  machine.write('home/.claude.json', '{}');
  machine.write(where, servers(entries));
  const found = () => {
    const project = machine.at('work');
    const file = claude.files(machine.world, project).find(({ path }) => path === machine.at(where));
    if (file === undefined) throw new Error(`Claude Code does not read ${where}`);
    const standing = claudeStanding(file, machine.world, project);
    return findPrograms(readDocument(Buffer.from(machine.read(where)), 'json'), file).flatMap((each) => {
      if (!('program' in each)) return [];
      const own = readOwnCommand(wordsOf(each.program), new Set());
      const finding = standing.of({ program: each.program, own });
      return finding === undefined
        ? []
        : [`${finding.id}: ${finding.fix?.replaceAll(machine.root, '') ?? 'no command'}`];
    });
  };
  return { ...machine, found };
}

describe('what Claude Code says of its servers', () => {
  it('[E-2] names no command for the rules of an administrator, and an editor for those of the user', () => {
    const { write, found } = startStanding('home/.claude.json', { kb: { command: 'sh' } });
    expect(found()).toEqual([]);
    const rules = JSON.stringify({ deniedMcpServers: [{ serverName: 'kb' }] });
    write('home/.claude/settings.json', rules);
    expect(found()).toEqual(['agent.denied: ${EDITOR:-vi} /home/.claude/settings.json']);
    write('system/etc/claude-code/managed-settings.d/10.json', rules);
    expect(found()).toEqual(['agent.denied: no command']);
  });

  it('[E-2] finds what unwedge keeps a list of allowed commands from knowing', () => {
    const { write, found } = startStanding('home/.claude.json', {
      plain: { command: 'sh', args: ['a'] },
      behind: wrapped('sh', 'a'),
      other: { command: 'sh', args: ['b'] },
    });
    const allow = (...rules: object[]) =>
      write('system/etc/claude-code/managed-settings.json', JSON.stringify({ allowedMcpServers: rules }));
    allow({ serverCommand: ['sh', 'a'] }, { serverName: 'other' });
    expect(found()).toEqual(['agent.denied: unwedge install claude --undo', 'agent.denied: no command']);
    allow({ serverName: 'plain' }, { serverName: 'behind' });
    expect(found()).toEqual(['agent.denied: no command']);
  });

  it.each([
    ['wrapped', wrapped('sh', 'x'), { command: 'sh', args: ['x'] }, true],
    [
      'of unwedge itself',
      { command: 'unwedge', args: ['mcp-self'] },
      { command: 'npx', args: ['-y', 'unwedge', 'mcp-self'] },
      true,
    ],
    ['to the letter the same', { command: 'sh', args: ['x'] }, { command: 'sh', args: ['x'] }, false],
  ])('[E-2] finds a server that a plugin brings too: one that is %s', (_, mine, theirs, isDoubled) => {
    const { write, found } = startStanding('home/.claude.json', { mine });
    write('home/.claude/plugins/cache/m/p/1.0.0/.mcp.json', servers({ theirs }));
    expect(found()).toEqual([]);
    write('home/.claude/settings.json', JSON.stringify({ enabledPlugins: { 'p@m': true } }));
    expect(found()).toEqual(isDoubled ? ['agent.doubled: claude mcp remove mine -s user'] : []);
  });

  it('[E-2] finds a server of the project that nobody approved; a project approves its own once it is trusted', () => {
    const { write, at, found } = startStanding('work/.mcp.json', { kb: { command: 'sh' } });
    const pending = ['agent.unapproved: cd /work && claude'];
    const settings = (path: string, values: object) => write(path, JSON.stringify(values));
    expect(found()).toEqual(pending);
    settings('work/.claude/settings.local.json', { enabledMcpjsonServers: ['kb'] });
    expect(found()).toEqual(pending);
    settings('home/.claude.json', { projects: { [at('work')]: { hasTrustDialogAccepted: true } } });
    expect(found()).toEqual([]);
    settings('work/.claude/settings.local.json', { disabledMcpjsonServers: ['kb'] });
    expect(found()).toEqual([]);
    settings('work/.claude/settings.local.json', {});
    expect(found()).toEqual(pending);
    settings('home/.claude/settings.json', { enableAllProjectMcpServers: true });
    settings('home/.claude.json', {});
    expect(found()).toEqual([]);
  });
});
