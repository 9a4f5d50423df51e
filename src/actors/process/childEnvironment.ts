import type { SubprocessInput } from '../../machines/subprocessInput.ts';
import { markName, markVariable } from './processMark.ts';

/** Options that decide over the environment of a child. */
type EnvironmentOptions = Pick<SubprocessInput, 'env' | 'envMode' | 'envAllow'>;

/** The whole environment a child gets, as of now: what passes of `host`, what is set for it, and the mark of its run. */
export function childEnvironment(
  { env = {}, envMode = 'extend', envAllow }: EnvironmentOptions,
  mark: string,
  host: NodeJS.ProcessEnv = process.env,
): Readonly<Record<string, string>> {
  const passed = passing(envMode, envAllow, host);
  const all = Object.entries({ ...passed, ...env, [markName]: markVariable(mark) });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

function passing(
  envMode: EnvironmentOptions['envMode'],
  envAllow: EnvironmentOptions['envAllow'],
  host: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  if (envMode === 'only') return {};
  if (envMode === 'safe') return safeEnvironment(envAllow, host);
  return envAllow === undefined ? host : pick(host, envAllow);
}

const pick = (host: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv =>
  Object.fromEntries(names.map((name) => [name, host[name]]));

/** Variables that a program needs to run at all, and nothing that could be a secret. */
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

/** Variables of certificates, and of whether they and the proxies count: without these a program behind a proxy reaches nothing. */
const networkNames: readonly string[] = [
  'CURL_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_ENV_PROXY',
  'NODE_USE_SYSTEM_CA',
  'REQUESTS_CA_BUNDLE',
  'SSL_CERT_DIR',
  'SSL_CERT_FILE',
];
/** Addresses of proxies, in either case: one with a name and a password is a secret. */
const proxyNames: readonly string[] = ['ALL_PROXY', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

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
  for (const name of [...networkNames, ...proxyNames]) {
    const value = host[name];
    const isSecret = proxyNames.includes(name) && value?.includes('@') === true;
    if (value !== undefined && !value.startsWith('()') && !isSecret) found.set(name, value);
  }
  for (const name of more) {
    const value = host[name];
    if (value !== undefined) found.set(name, value);
  }
  return Object.fromEntries(found);
}
