/** Name of a message in its session. */
export interface MessageName {
  readonly number: number;
  /** Number as a mail, of one that came so from another runtime: its id was given out before its number was known. */
  readonly mail?: number | undefined;
}

/** The id of a message, for good. */
export function messageId(session: string, { number, mail }: MessageName): string {
  return mail === undefined ? `${session}-m${number}` : `${session}-x${mail}`;
}

/** Name of a message as its id tells it. */
export type NamedMessage = { readonly number: number } | { readonly mail: number };

/** Reads the id of a message of a session; undefined for one that is none. */
export function messageNamed(id: string, session: string): NamedMessage | undefined {
  if (!id.startsWith(`${session}-`)) return undefined;
  const [, kind, digits] = /^([mx])(\d{1,15})$/.exec(id.slice(session.length + 1)) ?? [];
  if (digits === undefined) return undefined;
  return kind === 'x' ? { mail: Number(digits) } : { number: Number(digits) };
}
