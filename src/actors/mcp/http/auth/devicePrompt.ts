import { formatDuration } from '../../../../policy/text/duration.ts';
import { type DeviceCode, type DeviceSignIn, signInByDevice } from './deviceCode.ts';

/** Time after a sign-in that failed within which no other is begun, in ms: a person is not asked over and over. */
const restMs = 60_000;

interface DevicePromptHost extends Omit<DeviceSignIn, 'show' | 'signal' | 'holdsProcess'> {
  /** Tells people the code. Must not throw. @param over - aborts when the sign-in is over, and ends it. */
  readonly tell: (code: DeviceCode, over: AbortController) => void;
}

/** Says where the code is entered, and until when. */
export const deviceWords = ({ address, code, lifeMs }: DeviceCode): string =>
  `sign in at ${address} with the code ${code}, on any device, within ${formatDuration(lifeMs)}`;

/** Sign-ins by a device code for calls that have no token: at most one is under way in this process. */
export class DevicePrompt {
  readonly #host: DevicePromptHost;
  #advice: Promise<string> | undefined;

  constructor(host: DevicePromptHost) {
    this.#host = host;
  }

  /** Says how to sign in, and begins a sign-in where none is under way. Never rejects. */
  advice(): Promise<string> {
    this.#advice ??= new Promise((resolve) => {
      const over = new AbortController();
      const show = (code: DeviceCode): void => {
        resolve(`${deviceWords(code)}; then make the call again`);
        this.#host.tell(code, over);
      };
      void signInByDevice({ ...this.#host, show, signal: over.signal }).then((end) => {
        over.abort();
        resolve(end.ok ? 'somebody has signed in meanwhile' : end.message);
        this.#advice = end.ok ? undefined : Promise.resolve(end.message);
        if (!end.ok) this.#host.clock.setTimeout(() => (this.#advice = undefined), restMs);
      });
    });
    return this.#advice;
  }
}
