import type { Clock, Random } from '../../../policy/clock.ts';
import { valueHider } from '../mcpStderr.ts';
import { Access } from './access.ts';
import { remoteSecrets, type TargetSettings } from './remoteOptions.ts';
import { Requester } from './requester.ts';

/** Tokens, ids of sessions among them, that are kept out of messages; of more the oldest are forgotten. */
const mostTokens = 10;

/** What the incarnations of one remote server share: what is known of it, and what it is shown. */
export class RemoteContext {
  readonly settings: TargetSettings;
  readonly access: Access;
  readonly requester: Requester;
  readonly random: Random;
  /** The transport that it turned out to speak, where it was to be found out. */
  transport: 'http' | 'sse' | undefined;
  /** Of which era it was when it was last connected to. */
  era: 'legacy' | 'modern' | undefined = undefined;
  readonly #secrets: Record<string, string>;
  #hider: (text: string) => string;
  readonly #tokens: string[] = [];

  /** @param learn - told of each new token, as the header that it goes in. */
  constructor(
    settings: TargetSettings,
    { clock, random }: { readonly clock: Clock; readonly random: Random },
    learn: (headers: Readonly<Record<string, string>>) => void,
  ) {
    this.settings = settings;
    this.random = random;
    this.transport = settings.transport === 'auto' ? undefined : settings.transport;
    this.#secrets = remoteSecrets(settings);
    this.#hider = valueHider(this.#secrets);
    this.access = new Access(settings.auth, clock, (token) => {
      this.keepOut(token);
      learn({ authorization: `Bearer ${token}` });
    });
    this.requester = new Requester(settings, this.access, { clock, hide: (text) => this.hide(text) });
  }

  /** Keeps what lets somebody in out of messages: a server may say it back. */
  keepOut(token: string): void {
    this.#tokens.push(token);
    if (this.#tokens.length > mostTokens) this.#tokens.shift();
    const tokens = Object.fromEntries(this.#tokens.map((each, index) => [`token ${index + 1}`, each]));
    this.#hider = valueHider({ ...this.#secrets, ...tokens });
  }

  hide(text: string): string {
    return this.#hider(text);
  }
}
