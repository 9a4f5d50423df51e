import { playModern, type ModernScenario } from './modern.ts';
import type { Transcript } from './recording.ts';
import { play, type Scenario } from './session.ts';
import type { Way } from './ways.ts';

const played = new Map<string, Promise<Transcript>>();

/**
 * Plays a scenario on each way once: the transcript of the client that is connected directly is compared with those of all others. One that
 * failed is played again when it is asked for again: by the retry of a test.
 */
export function playOnce(way: Way, scenario: Scenario | ModernScenario): Promise<Transcript> {
  const isModern = 'mode' in scenario;
  const key = `${isModern ? 'modern' : 'initialized'}, ${way}: ${scenario.says}`;
  const before = played.get(key);
  if (before !== undefined) return before;
  const transcript = isModern ? playModern(way, scenario) : play(way, scenario);
  played.set(key, transcript);
  transcript.catch(() => played.delete(key));
  return transcript;
}

/** A transcript without the order of what came by several connections; each client has ids of its own. */
export function unordered({ sent, received }: Transcript): {
  readonly sent: readonly string[];
  readonly received: readonly string[];
} {
  // On stdio the client asks a server of its own for its era, of which the transport knows nothing.
  const texts = (messages: Transcript['sent']): readonly string[] =>
    messages
      .filter(({ id }) => id !== 'server-discover-probe-1')
      .map((each) => JSON.stringify(each))
      .toSorted();
  return { sent: texts(sent), received: texts(received) };
}
