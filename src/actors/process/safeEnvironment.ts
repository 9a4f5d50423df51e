/** What a program needs to run at all, and nothing that could be a secret. */
const safeNames: readonly string[] =
  process.platform === 'win32'
    ? [
        'APPDATA',
        'HOMEDRIVE',
        'HOMEPATH',
        'LOCALAPPDATA',
        'PATH',
        'PROCESSOR_ARCHITECTURE',
        'PROGRAMFILES',
        'SYSTEMDRIVE',
        'SYSTEMROOT',
        'TEMP',
        'USERNAME',
        'USERPROFILE',
      ]
    : ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];

/**
 * The variables that are safe to hand to any child, as of now; shell functions among them are left out.
 * @param more - names of others that are to pass.
 */
export function safeEnvironment(
  more: readonly string[] = [],
  host: NodeJS.ProcessEnv = process.env,
): Record<string, string> {
  const found = new Map<string, string>();
  for (const name of safeNames) {
    const value = host[name];
    if (value !== undefined && !value.startsWith('()')) found.set(name, value);
  }
  for (const name of more) {
    const value = host[name];
    if (value !== undefined) found.set(name, value);
  }
  return Object.fromEntries(found);
}
