/** Default limit in ms on the start of a command that somebody configured, for whom nobody waits: its package may be fetched first. */
export const commandHandshakeMs = 180_000;

/** The same of a remote server: where it is known to be, it takes no longer than it takes to connect. */
export const remoteHandshakeMs = 30_000;
