import { describe, expect, it } from 'vitest';
import { isProgram, programFlaw } from '../../../src/policy/text/commandText.ts';
import { createGateway } from '../../../src/index.ts';

describe('a command', () => {
  it.each([
    'node',
    '/usr/bin/node',
    './run me',
    '/Users/Some One/bin/x',
    'C:\\Program Files\\nodejs\\node.exe',
    ' node ',
  ])('[R-17] is a program: %s', (text) => expect(isProgram(text)).toBe(true));

  it.each([
    'node server.mjs',
    'npx -y @acme/x',
    '/usr/bin/node /srv/x.mjs',
    '/bin/sh -c "echo hi"',
    './run ./there',
    'python\tx',
  ])('[R-17] is a line, which nothing takes apart: %s', (text) => expect(isProgram(text)).toBe(false));

  it('[R-17] that is a line is refused with option, value and the form that is meant', () => {
    const gateway = createGateway();
    const told = /Expected .*command.* the program alone.*args: \["server.mjs"\].*, got "node server.mjs"/;
    const command = 'node server.mjs';
    expect(() => gateway.mcpServer('a', { command })).toThrow(told);
    expect(() => gateway.subprocess('b', { command })).toThrow(told);
    expect(() => createGateway({ alerts: { command: { command } } })).toThrow(told);
    expect(programFlaw(command, 'the command after --')).toContain(
      'without quotes around all of them: node server.mjs',
    );
  });

  it('[Q-4] that is a line is refused in words that no terminal obeys', () => {
    const flaw = programFlaw('no\u0001de \u001b[2J\u009b31m x.mjs \u202e', 'the command');
    expect(flaw).toContain('got "node x.mjs": ');
    // eslint-disable-next-line no-control-regex
    expect(flaw).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  });
});
