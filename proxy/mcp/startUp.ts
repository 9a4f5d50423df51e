import type { Timer } from '../../src/policy/clock.ts';
import { formatDuration } from '../../src/policy/duration.ts';
import type { ClientCall } from './clientCall.ts';
import type { ProxyScope } from './proxyScope.ts';

/** Time between two signs to the client that its server is still starting, in ms: below the limit of any client. */
const beatMs = 5000;
/** Beats from one line for people to the next. */
const beatsPerLine = 3;

/**
 * Keeps the client while its server takes its time to start: a package may have to be fetched first.
 * @param calls - the requests of the client that have no answer.
 */
export function createStartUp(scope: ProxyScope, calls: () => Iterable<ClientCall>) {
  const { name, clock, outlet, voice } = scope;
  let timer: Timer | undefined;
  let beats = 0;

  const beat = (): void => {
    beats++;
    const message = `${name} has been starting for ${formatDuration(beats * beatMs)}`;
    for (const call of calls()) {
      const line = call.progressLine(message);
      if (line !== undefined) outlet.write(line);
    }
    if (beats % beatsPerLine === 0) voice.say(message);
    timer = clock.setTimeout(beat, beatMs);
  };
  return {
    /** A process runs and has not answered anything. */
    begin(): void {
      clock.clearTimeout(timer);
      beats = 0;
      timer = clock.setTimeout(beat, beatMs);
    },
    /** It has, or is gone. */
    end: () => clock.clearTimeout(timer),
  };
}
