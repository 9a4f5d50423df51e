/** Every fault of the tour, in the order of its table. */
export const faultNames = [
  'mcp-killed',
  'mcp-stopped',
  'mcp-slow',
  'ws-restart',
  'ws-lost',
  'http-429',
  'http-503',
  'http-401',
  'http-silent',
  'http-outage',
  'cli-silent',
  'cli-stubborn',
  'cli-missing',
  'hook-throws',
  'hook-hangs',
  'tool-hangs',
] as const;

export type FaultName = (typeof faultNames)[number];
