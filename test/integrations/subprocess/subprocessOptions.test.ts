import { describe, expect, it } from 'vitest';
import { createGateway } from '../../../src/index.ts';
import { AttemptError } from '../../../src/policy/failures/failure.ts';
import {
  checkRunRequest,
  checkSubprocessOptions,
  type SubprocessOptions,
} from '../../../src/integrations/subprocess/subprocessOptions.ts';

const check = (wrong: object) => (): unknown =>
  checkSubprocessOptions('cli', { command: 'x', ...wrong } as SubprocessOptions);

describe('the options of a command', () => {
  it.each([
    [{ printsOnlyAtEnd: 'yes' }, 'Expected `cli.printsOnlyAtEnd` to be true or false, got "yes"'],
    [{ expectsOutput: 1 }, 'Expected `cli.expectsOutput` to be true or false, got 1'],
    [{ envMode: 'all' }, 'Expected `cli.envMode` to be one of extend, safe, only, got "all"'],
    [{ args: [1] }, 'Expected `cli.args[0]` to be a string, got 1'],
    [{ agent: 'gemni' }, 'Expected `cli.agent` to be one of'],
    [{ promptBy: 'mail' }, 'Expected `cli.promptBy` to be one of'],
    [{ shel: true }, 'Unknown option `cli.shel`'],
    [{ stdin: 'x' }, 'Unknown option `cli.stdin`'],
  ])('are refused with %o', (wrong, message) => {
    expect(check(wrong)).toThrow(message);
  });

  it("[A-1] take an agent of the user's own by its name", async () => {
    const gateway = createGateway({ agentProfiles: { qwen: { commands: ['qwen'], like: 'gemini' } } });
    expect(() => gateway.subprocess('fork', { command: 'node', args: ['qwen.js'], agent: 'qwen' })).not.toThrow();
    const misspelt = { command: 'node', agent: 'qwem' };
    expect(() => gateway.subprocess('other', misspelt)).toThrow('`other.agent` to be one of auto, none, claude');
    await gateway.stop();
  });
});

describe('a run request', () => {
  const refusal = (request: unknown): unknown => {
    try {
      checkRunRequest('cli', request);
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it('is taken when it says how the command is run', () => {
    expect(refusal({ args: ['a'], stdin: new Uint8Array(1), cwd: '/', prompt: '' })).toBeUndefined();
    expect(refusal({ args: undefined })).toBeUndefined();
  });

  it.each([
    [undefined, 'Expected a run of cli to be an object, got undefined'],
    [['a'], 'Expected a run of cli to be an object, got an array of 1'],
    [{ args: 'a' }, 'Expected `args` to be an array of strings, got "a"'],
    [{ args: ['a', 5] }, 'Expected `args[1]` to be a string, got 5'],
    [{ args: ['a\0b'] }, 'Expected `args` to be free of null bytes'],
    [{ cwd: 'a\0b' }, 'Expected `cwd` to be free of null bytes'],
    [{ stdin: 5 }, 'Expected `stdin` to be a string or bytes, got 5'],
    [{ cwd: '' }, 'Expected `cwd` to be a non-empty string, got ""'],
    [{ prompt: 5 }, 'Expected `prompt` to be a string, got 5'],
    [{ command: 'rm' }, 'Unknown option `command`; known: args, stdin, cwd, prompt'],
    [{ constructor: 'x' }, 'Unknown option `constructor`; known: args, stdin, cwd, prompt'],
  ])('is refused as the mistake of who asks with %o', (request, message) => {
    const error = refusal(request) as AttemptError;
    expect(error.facts).toMatchObject({ kind: 'permanent', outcome: 'not_started' });
    expect(error.message).toContain(message);
  });
});
