import { dirname, join } from 'node:path';
import { HandshakeFiles } from '../../actors/mcp/handshakeFiles.ts';
import { allowedEnvironment, mcpEnvironment } from '../../actors/mcp/serverEnvironment.ts';
import type { HandshakeShelf } from '../../mcpProxy/handshakeShelf.ts';
import type { McpProxyOptions } from '../../mcpProxy/settings.ts';
import type { KnownSecrets } from '../../redaction/knownSecrets.ts';
import { withoutTokens } from '../../redaction/secretShapes.ts';
import { commandIdentity } from './commandIdentity.ts';

/** Settings that handshakes are kept by. */
export interface HandshakeSettings {
  /** Path of the database beside which they are; `:memory:`: nothing is kept. */
  readonly storePath: string;
  readonly secrets: Pick<KnownSecrets, 'hide' | 'learn'>;
  /** `--no-cache`. */
  readonly noCache: boolean;
}

/** The handshakes of a server that is run as a command; undefined where none are kept. */
export function handshakesOf(
  { command, args = [], env, cwd = process.cwd(), envAllow }: McpProxyOptions,
  { storePath, secrets, noCache }: HandshakeSettings,
): HandshakeShelf | undefined {
  if (noCache || command === undefined || storePath === ':memory:' || process.platform === 'win32') return undefined;
  const whole = mcpEnvironment(allowedEnvironment(envAllow, env));
  const identity = commandIdentity({ command, args, cwd, env: whole });
  if (identity === undefined) return undefined;
  secrets.learn(whole);
  return new HandshakeFiles({
    directory: join(dirname(storePath), 'handshakes'),
    identity,
    holdsSecret: (text) => secrets.hide(text) !== text || withoutTokens(text) !== text,
    now: () => Date.now(),
  });
}
