import { connect } from 'node:net';
import { shellWord } from '../../policy/shellWord.ts';
import type { DoctorWorld, Finding } from './finding.ts';

/** A server that an agent reaches by its address. */
export interface RemoteServer {
  readonly name: string;
  readonly file: string;
  readonly url: string;
}

/** On this machine an answer comes at once. In ms. */
const connectMs = 1000;

/** Variables with the address that an agent asks its model at: with a dead one, no turn of it gets an answer. */
const modelAddresses = ['ANTHROPIC_BASE_URL', 'OPENAI_BASE_URL'] as const;

/** Addresses of this machine on which nobody listens. Nothing is sent, and no other machine is asked. */
export async function checkAddresses(
  remotes: readonly RemoteServer[],
  world: DoctorWorld,
): Promise<readonly Finding[]> {
  const ofVariables = modelAddresses.flatMap((name) => {
    const url = world.env[name];
    return url === undefined ? [] : [{ url, finding: (): Finding => variableFinding(name, url) }];
  });
  const ofServers = remotes.map((remote) => ({ url: remote.url, finding: () => serverFinding(remote) }));
  const found = await Promise.all(
    [...ofVariables, ...ofServers].map(async ({ url, finding }) => ((await isDeserted(url, world)) ? finding() : [])),
  );
  return found.flat();
}

function variableFinding(name: string, url: string): Finding {
  const summary = `${name} is ${url}, where nobody listens: what asks a model there gets no answer`;
  return { id: 'address.model', status: 'fail', summary, fix: `unset ${name}` };
}

function serverFinding({ name, file, url }: RemoteServer): Finding {
  const summary = `${name} of ${file} is at ${url}, where nobody listens: start what serves it, or mend the address`;
  return { id: 'address.server', status: 'warning', summary, fix: `\${EDITOR:-vi} ${shellWord(file)}` };
}

function isDeserted(text: string, { signal }: DoctorWorld): Promise<boolean> {
  const place = loopbackPlace(text);
  if (place === undefined) return Promise.resolve(false);
  return new Promise((resolve) => {
    const socket = connect({ ...place, timeout: connectMs, signal });
    const settle = (isRefused: boolean): void => {
      socket.destroy();
      resolve(isRefused);
    };
    socket.once('connect', () => settle(false));
    socket.once('timeout', () => settle(false));
    socket.on('error', (error) => settle('code' in error && error.code === 'ECONNREFUSED'));
  });
}

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/;

function loopbackPlace(text: string): { readonly host: string; readonly port: number } | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !loopback.test(url.hostname)) return undefined;
  const port = url.port === '' ? { 'http:': 80, 'https:': 443 }[url.protocol] : Number(url.port);
  return port === undefined ? undefined : { host: url.hostname.replace(/^\[|\]$/g, ''), port };
}
