/** Commands that hand messages on to a server elsewhere, or in a container that is no child of theirs. */
const forwarders: ReadonlySet<string> = new Set([
  'docker',
  'podman',
  'nerdctl',
  'kubectl',
  'ssh',
  'wsl',
  'mcp-remote',
  'mcp-proxy',
  'supergateway',
]);

/**
 * Tells whether a command only hands messages on, as far as its words tell: its process may end while the server behind it goes on, with its tasks as well.
 */
export function handsOn(command: string, args: readonly string[]): boolean {
  const program = command.replace(/^.*[/\\]/, '').replace(/\.(exe|cmd)$/i, '');
  // A shell has its command in one word.
  const words = args.flatMap((arg) => arg.split(/\s+/)).map((word) => word.replace(/(?<=.)@[^/]*$/, ''));
  return [program, ...words].some((word) => forwarders.has(word));
}
