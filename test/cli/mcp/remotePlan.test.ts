import { describe, expect, it } from 'vitest';
import { remoteName } from '../../../cli/mcp/remotePlan.ts';

describe('the name of a remote server', () => {
  it.each([
    ['https://mcp.linear.app/mcp', 'linear.app'],
    ['https://api.example.com/v1/mcp?key=secret', 'example.com'],
    ['https://mcp.example/mcp', 'mcp.example'],
    ['https://www.files.example/', 'files.example'],
    ['http://127.0.0.1:3000/mcp', '127.0.0.1:3000'],
    ['http://localhost/mcp', 'localhost'],
    ['http://[::1]:80/mcp', '::1'],
  ])('[P-4] of %s is %s', (url, name) => {
    expect(remoteName(url)).toBe(name);
  });
});
