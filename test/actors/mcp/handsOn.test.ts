import { describe, expect, it } from 'vitest';
import { handsOn } from '../../../src/actors/mcp/handsOn.ts';

describe('a command that only hands messages on', () => {
  it.each([
    ['docker', ['run', '-i', '--rm', 'acme/bank']],
    ['/usr/bin/ssh', ['host', 'bank-server']],
    ['npx', ['-y', 'mcp-remote@latest', 'https://bank.example/mcp']],
    ['sh', ['-c', 'exec podman run -i acme/bank']],
    ['docker.exe', ['run', 'acme/bank']],
  ])('[R-16] is known by its words: %s', (command, args) => {
    expect(handsOn(command, args)).toBe(true);
  });

  it.each([
    ['npx', ['-y', '@acme/bank']],
    ['node', ['/home/me/docker/server.js']],
    ['uvx', ['docker-tools']],
  ])('[R-16] is not one that runs the server itself: %s', (command, args) => {
    expect(handsOn(command, args)).toBe(false);
  });
});
