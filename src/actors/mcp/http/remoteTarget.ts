import type { Clock, Random } from '../../../policy/clock.ts';
import type { ServerTarget } from '../serverLink.ts';
import { HttpLink } from './httpLink.ts';
import { RemoteContext } from './remoteContext.ts';
import { remoteSecrets, shownAddress, type TargetSettings } from './remoteOptions.ts';
import { SseLink } from './sseLink.ts';

/**
 * A server that is reached by HTTP. What is found out of it stays for its next incarnation: the transport, the era, and whether it refuses what it
 * is shown.
 * @param learn - told of each token, as the header that it goes in: it is a secret.
 */
export function remoteTarget(
  settings: TargetSettings,
  chance: { readonly clock: Clock; readonly random: Random },
  learn: (headers: Readonly<Record<string, string>>) => void,
): ServerTarget {
  const { handshakeMs, pingMs, maxMessageBytes } = settings;
  const context = new RemoteContext(settings, chance, learn);
  return {
    command: shownAddress(settings.url),
    secrets: remoteSecrets(settings),
    handshakeMs,
    pingMs,
    maxMessageBytes,
    mayGoOn: true,
    eras: {
      // The older transport is older than the question.
      get known() {
        return context.transport === 'sse' ? 'legacy' : context.era;
      },
      learn(era) {
        context.era = era;
      },
    },
    open(linkClock, listener) {
      const Link = context.transport === 'sse' ? SseLink : HttpLink;
      return new Link(context, linkClock, listener);
    },
  };
}
