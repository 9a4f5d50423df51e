import type { Clock, Random } from '../../../policy/clock.ts';
import { type McpParams, type McpRequest } from '../../../protocol/mcp/message.ts';
import { withId } from '../../../protocol/mcp/rewrite.ts';
import { valueHider } from '../../process/valueHider.ts';
import { Access } from './access.ts';
import { remoteSecrets, type TargetSettings } from './remoteOptions.ts';
import { Requester } from './requester.ts';

/** Tokens, ids of sessions among them, that are kept out of messages; of more the oldest are forgotten. */
const mostTokens = 10;

/** A handshake that was made to find out whether a session is gone, and the session that began with it. */
interface KeptGreeting {
  readonly params: McpParams;
  /** The server's answer. */
  readonly text: string;
  readonly session: string | undefined;
}

/** Time in ms that a session that began so is taken for one that is still there. */
const keptMs = 30_000;
/** Between two sessions in a row that are given up before they were of use, in ms: doubled each time. */
const firstRenewalMs = 2000;
const longestRenewalMs = 60_000;

/** Knowledge that the incarnations of one remote server share: what is known of it, and what it is shown. */
export class RemoteContext {
  readonly settings: TargetSettings;
  readonly access: Access;
  readonly requester: Requester;
  readonly random: Random;
  /** The transport that it turned out to speak, where it was to be found out. */
  transport: 'http' | 'sse' | undefined;
  /** Era that it was of when it was last connected to. */
  era: 'legacy' | 'modern' | undefined = undefined;
  readonly #secrets: Record<string, string>;
  #hider: (text: string) => string;
  readonly #tokens: string[] = [];
  readonly #clock: Clock;
  #renewalMs = 0;
  #renewableAt = Number.NEGATIVE_INFINITY;
  #greeting: (KeptGreeting & { readonly at: number }) | undefined = undefined;

  /** @param learn - told of each new token, as the header that it goes in. */
  constructor(
    settings: TargetSettings,
    { clock, random }: { readonly clock: Clock; readonly random: Random },
    learn: (headers: Readonly<Record<string, string>>) => void,
  ) {
    this.settings = settings;
    this.#clock = clock;
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

  /** True where a session that was of no use yet may be given up for another: a server that loses each at once is not asked for one all the time. */
  get mayRenew(): boolean {
    return this.#clock.now() >= this.#renewableAt;
  }

  /**
   * A session is given up.
   * @param hasWorked - something was done in it.
   * @returns whether that was to be expected: servers forget sessions, but not one after the other before they are of use.
   */
  renews(hasWorked: boolean): boolean {
    const isExpected = hasWorked || this.#renewalMs === 0;
    this.#renewalMs = hasWorked ? 0 : Math.min(longestRenewalMs, Math.max(firstRenewalMs, 2 * this.#renewalMs));
    this.#renewableAt = this.#clock.now() + this.#renewalMs;
    return isExpected;
  }

  /** The next link begins with this handshake, so that one loss makes one session. */
  keepGreeting(greeting: KeptGreeting): void {
    this.#greeting = { ...greeting, at: this.#clock.now() };
    if (greeting.session !== undefined) this.keepOut(greeting.session);
  }

  /** The answer to this handshake, where it has been made already; once. */
  takeGreeting({ id, params }: McpRequest): Response | undefined {
    const kept = this.#greeting;
    this.#greeting = undefined;
    if (kept === undefined || this.#clock.now() > kept.at + keptMs) return undefined;
    if (JSON.stringify(kept.params) !== JSON.stringify(params)) return undefined;
    const session = kept.session === undefined ? {} : { 'mcp-session-id': kept.session };
    return new Response(withId(kept.text, id), { headers: { 'content-type': 'application/json', ...session } });
  }

  hide(text: string): string {
    return this.#hider(text);
  }
}
