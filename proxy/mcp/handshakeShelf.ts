import type { RecordedHandshake } from '../wire/recordedHandshake.ts';

/** Handshakes that proxies of this very command have seen, by the client as it says itself who it is. Nothing here throws. */
export interface HandshakeShelf {
  find(client: string): RecordedHandshake | undefined;
  keep(client: string, recorded: RecordedHandshake): void;
  drop(client: string): void;
}
