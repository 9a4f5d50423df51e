import { remoteSecrets, type RemoteSettings } from '../actors/mcp/http/remoteOptions.ts';
import { variablesOf } from '../redaction/requestSecrets.ts';
import type { Runtime } from './runtime.ts';

/** The headers that a remote server is shown with every request. */
export function ownHeaders({
  headers = {},
}: Pick<RemoteSettings, 'headers'>): (readonly [name: string, value: string])[] {
  return Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

/** Has a runtime's redaction learn what a remote server is shown. */
export function learnRemote(secrets: Runtime['secrets'], settings: RemoteSettings): void {
  for (const variables of variablesOf(settings.url, ownHeaders(settings))) secrets.learn(variables);
  secrets.learnValues(Object.values(remoteSecrets(settings)));
  const { auth } = settings;
  if (auth !== undefined && 'clientSecret' in auth) secrets.learn({ clientSecret: auth.clientSecret });
}
