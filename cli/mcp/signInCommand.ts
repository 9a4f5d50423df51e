import { signIn } from './signIn.ts';
import {
  type DeviceCode,
  type DeviceSignIn,
  type SignInEnd,
  SignInFile,
  signInByDevice,
} from '../../src/actors/mcp/http/auth/face.ts';
import { formatDuration } from '../../src/policy/text/face.ts';
import { systemClock, tellCode } from '../../src/runtime/face.ts';
import { signInDirectory } from '../../src/store/face.ts';
import { CommandError, UsageError } from '../errors.ts';
import type { Io } from '../io.ts';
import { prepareProxy } from '../proxyRuntime.ts';
import { quoted } from '../sanitize.ts';
import { startRegistry } from '../startRegistry.ts';
import type { McpArgs } from './options.ts';
import { variable } from './remotePlan.ts';

/** Time in ms that the browser is waited for. */
const waitMs = 10 * 60_000;

/** Has a person sign in to a remote server. Gives the exit code. */
export async function signInCommand(args: McpArgs, io: Io, url: string, rest: readonly string[]): Promise<number> {
  if (rest.length > 0) throw new UsageError('Expected `--sign-in` without a command');
  const { 'client-id': clientId, 'client-secret-env': secret, 'callback-port': port } = args;
  if (secret !== undefined && clientId === undefined) {
    throw new UsageError('Expected `--client-id` beside `--client-secret-env`');
  }
  const file = new SignInFile(signInDirectory(io.env), url, systemClock);
  const client = clientId === undefined ? undefined : { client_id: clientId, ...secretOf(secret, io) };
  const asked = { file, clock: systemClock, client, scope: args.scope };
  if (args.device && port !== undefined) throw new UsageError('Option --callback-port is not for --device');
  const end = await (args.device
    ? signInElsewhere(asked, url, args, io)
    : signIn({
        ...asked,
        callbackPort: port === undefined ? undefined : portIn(port),
        waitMs,
        signal: io.signal,
        show: (address) => {
          io.stdout.write(
            `Open this address in a browser on this machine, and sign in within ${formatDuration(waitMs)}:\n\n${address}\n\n`,
          );
        },
      }));
  if (!end.ok) throw new CommandError(`Not signed in: ${end.message}`);
  io.stdout.write(`Signed in to ${new URL(url).host}. ${lifeOf(end)}\n`);
  return 0;
}

/** Has a person sign in on another device. The code is in the inbox too, which is of this process alone. */
async function signInElsewhere(
  asked: Omit<DeviceSignIn, 'show' | 'signal'>,
  url: string,
  args: McpArgs,
  io: Io,
): Promise<SignInEnd> {
  const over = new AbortController();
  io.signal.addEventListener('abort', () => over.abort(), { once: true });
  const { registry, logger, openStore } = await prepareProxy({ ...args, inbox: true }, io, ['mcpServers']);
  await startRegistry(registry, logger, { storeLater: true });
  await openStore();
  try {
    const show = (code: DeviceCode): void => tellCode(registry.runtime, url, code, over);
    return await signInByDevice({ ...asked, show, signal: over.signal, holdsProcess: true });
  } finally {
    over.abort();
    await registry.runtime.store()?.flush();
    await registry.stop();
  }
}

function portIn(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535) {
    throw new UsageError(`Expected \`--callback-port\` to be a port from 1 to 65535, got ${quoted(text)}`);
  }
  return port;
}

function secretOf(name: string | undefined, { env }: Io): { readonly client_secret?: string } {
  return name === undefined ? {} : { client_secret: variable('--client-secret-env', name, env) };
}

function lifeOf({ renews, expiresAt }: { readonly renews: boolean; readonly expiresAt?: number | undefined }): string {
  if (renews) return 'It is renewed by itself.';
  if (expiresAt === undefined) return 'It lasts until the server ends it.';
  return `It ends in ${formatDuration(expiresAt - systemClock.wallNow())} and is not renewed: the server gives no refresh token.`;
}
