import { describe, expect, it } from 'vitest';
import { said, startInstall } from '../startInstall.ts';

const settings = 'home/.claude/settings.json';
const events = ['PreToolUse', 'PostToolUse', 'PostToolUseFailure'];

interface Settings {
  readonly hooks: Readonly<
    Record<string, readonly { readonly hooks: readonly { readonly command: string; readonly timeout?: number }[] }[]>
  >;
}

/** Commands of each event that gets the guard, as short as they can be. */
function commandsIn(text: string, script: string): Readonly<Record<string, readonly string[]>> {
  const { hooks } = JSON.parse(text) as Settings;
  const line = `/usr/bin/node ${script} hook --guard spinning --host-timeout 10s`;
  return Object.fromEntries(
    events.map((event) => [
      event,
      (hooks[event] ?? []).flatMap((group) =>
        group.hooks.map(({ command, timeout }) => (command === line && timeout === 10 ? 'guard' : command)),
      ),
    ]),
  );
}

const guard = { withGuard: true } as const;
const alone = { PreToolUse: ['guard'], PostToolUse: ['guard'], PostToolUseFailure: ['guard'] };
const pretty = `{
  "permissions": { "allow": [ "Bash(ls)" ] },
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "check \\"{}\\" []" }]
      }
    ],
    "Stop": []
  }
}
`;

describe('install --guard spinning', () => {
  it.each([
    ['an empty object', '{}', alone],
    ['an empty object with a line break', '{\n}\n', alone],
    ['settings without hooks', '{\n  "model": "x"\n}\n', alone],
    ['settings on one line', '{"model":"x"}', alone],
    ['an empty table of hooks', '{ "hooks": {}, "model": "x" }', alone],
    ['an empty list of an event', '{ "hooks": { "PreToolUse": [] } }', alone],
    ['hooks of others', pretty, { ...alone, PreToolUse: ['check "{}" []', 'guard'] }],
    [
      'a mark, and the line breaks of Windows',
      `\uFEFF${pretty.replaceAll('\n', '\r\n')}`,
      { ...alone, PreToolUse: ['check "{}" []', 'guard'] },
    ],
  ])(
    '[H-5] [E-4] puts the guard behind the hooks of %s, once, and takes it out to the byte',
    async (_what, text, commands) => {
      const machine = startInstall();
      machine.write(settings, text);
      expect(await machine.only(guard)).toMatchObject({ status: 'changed' });
      expect(commandsIn(machine.read(settings).replace('\uFEFF', ''), machine.script)).toEqual(commands);
      const written = machine.read(settings);
      expect(said(await machine.only(guard))).toEqual(['already the guard against repetition']);
      expect(machine.read(settings)).toBe(written);
      expect(await machine.undo()).toMatchObject({ files: [{ status: 'changed', isExact: true }] });
      expect(machine.read(settings)).toBe(text);
    },
  );

  it('[H-5] takes it out to the byte without its record, and again after others were wrapped and the file was edited', async () => {
    const machine = startInstall();
    machine.write(settings, pretty);
    await machine.run(guard);
    const written = machine.read(settings);
    const elsewhere = startInstall();
    elsewhere.write(settings, written);
    await elsewhere.undo();
    expect(elsewhere.read(settings)).toBe(pretty);
    expect(said(await machine.only())).toEqual([
      'wrapped PreToolUse Bash: check',
      ...events.map((event) => `already ${event}: node`),
    ]);
    machine.write(settings, machine.read(settings).replace('"Bash(ls)"', '"Bash(ls)", "Read"'));
    const { files } = await machine.undo();
    expect(files).toMatchObject([{ status: 'changed' }]);
    expect(machine.read(settings)).toBe(pretty.replace('"Bash(ls)"', '"Bash(ls)", "Read"'));
  });

  it('[H-5] takes it out of a file that its agent has written anew, and leaves the rest as that wrote it', async () => {
    for (const [text, indent] of [
      [pretty, 2],
      [pretty, '\t'],
      ['{ "model": "x" }', 4],
      ['{}', 0],
    ] as const) {
      const machine = startInstall();
      machine.write(settings, text);
      await machine.run(guard);
      machine.write(settings, JSON.stringify(JSON.parse(machine.read(settings)), null, indent));
      await machine.undo();
      expect(machine.read(settings)).toBe(JSON.stringify(JSON.parse(text), null, indent));
    }
  });

  it('[H-5] [E-4] is mended where the unwedge that it starts has moved', async () => {
    const machine = startInstall();
    machine.write(settings, pretty);
    await machine.run(guard);
    const written = machine.read(settings);
    machine.write(settings, written.replaceAll(machine.script, '/gone/unwedge/dist/cli/main.js'));
    expect(said(await machine.only())).toEqual(
      expect.arrayContaining(events.map((event) => `repaired ${event}: node`)),
    );
    expect(commandsIn(machine.read(settings), machine.script)).toMatchObject({ PostToolUse: ['guard'] });
    await machine.undo();
    expect(machine.read(settings)).toBe(pretty);
  });

  it('[H-5] leaves what a person put beside it, and a guard that was written by hand', async () => {
    const machine = startInstall();
    const own = {
      hooks: { PostToolUse: [{ hooks: [{ type: 'command', command: 'unwedge hook --guard spinning' }] }] },
    };
    machine.write(settings, JSON.stringify(own));
    await machine.run(guard);
    const added = machine.read(settings).replace('}]}]}}', '}]},{"matcher":"X","hooks":[]}]}}');
    machine.write(settings, added);
    await machine.undo();
    expect(JSON.parse(machine.read(settings))).toEqual({
      hooks: { ...own.hooks, PostToolUseFailure: [{ matcher: 'X', hooks: [] }] },
    });
  });

  it('[H-5] wraps nothing, says where there is no file of hooks, and writes nothing for a dry run', async () => {
    const machine = startInstall();
    machine.write('home/.claude.json', '{ "mcpServers": { "files": { "command": "npx" } } }');
    machine.write('work/.claude/settings.json', pretty);
    expect(await machine.only(guard)).toMatchObject({
      status: 'failed',
      why: expect.stringContaining('`{}`') as string,
    });
    machine.write(settings, '{}');
    const report = await machine.only({ ...guard, dryRun: true });
    expect(report.diff).toContain('hook --guard spinning');
    expect([machine.read(settings), machine.read('work/.claude/settings.json')]).toEqual(['{}', pretty]);
  });

  it('[H-5] fails where the one agent that was named has no file of hooks; of all agents some may have none', async () => {
    const machine = startInstall();
    const why = expect.stringContaining('write `{}` into it for the guard') as string;
    const statuses = async (agents: readonly ('claude' | 'codex')[]) =>
      (await machine.run({ ...guard, agents })).files.map(({ agent, status, why: said }) => ({
        agent,
        status,
        why: said,
      }));
    machine.write(settings, '{}');
    expect(await statuses(['codex'])).toEqual([{ agent: 'codex', status: 'failed', why }]);
    expect(await statuses(['claude', 'codex'])).toMatchObject([
      { agent: 'claude', status: 'changed' },
      { agent: 'codex', status: 'left', why },
    ]);
  });

  it('[H-5] goes behind the hooks of Codex, so that those it trusts keep their places', async () => {
    const machine = startInstall();
    const text = '{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"check"}]}]}}';
    machine.write('home/.codex/hooks.json', text);
    await machine.run({ ...guard, agents: ['codex'] });
    expect(commandsIn(machine.read('home/.codex/hooks.json'), machine.script)['PreToolUse']).toEqual([
      'check',
      'guard',
    ]);
    await machine.undo({ agents: ['codex'] });
    expect(machine.read('home/.codex/hooks.json')).toBe(text);
  });
});
