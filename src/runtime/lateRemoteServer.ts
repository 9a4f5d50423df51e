import { remoteSecrets, type RemoteSettings, shownAddress } from '../actors/mcp/http/remoteOptions.ts';
import type { ServerTarget } from '../actors/mcp/serverLink.ts';
import { learnRemote } from './remoteSecrets.ts';
import type { RemoteWorld } from './remoteServer.ts';
import { lateModule } from '../actors/process/lateModule.ts';

const remoteServerModule = lateModule(() => import('./remoteServer.ts'));

/** A remote MCP server whose code is loaded when it is first connected to: most gateways have none. */
export function lateRemoteServer(runtime: RemoteWorld, settings: RemoteSettings): ServerTarget {
  learnRemote(runtime.secrets, settings);
  const { handshakeMs, pingMs, maxMessageBytes } = settings;
  let target: ServerTarget | undefined;
  return {
    command: shownAddress(settings.url),
    secrets: remoteSecrets(settings),
    handshakeMs,
    pingMs,
    maxMessageBytes,
    mayGoOn: true,
    eras: {
      get known() {
        return target?.eras?.known;
      },
      learn: (era) => target?.eras?.learn(era),
    },
    async load() {
      target ??= (await remoteServerModule()).remoteServer(runtime, settings);
    },
    open(clock, listener) {
      if (target === undefined) throw new Error('A remote server is loaded before it is opened');
      return target.open(clock, listener);
    },
  };
}
