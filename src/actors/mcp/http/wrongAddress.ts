import type { FailureFacts } from '../../../policy/failure.ts';

/** Facts of an answer that no MCP server gives to a handshake. */
interface Strange {
  readonly status: number;
  /** Text of the answer, in a few words. */
  readonly said: string;
}

/** Longer parts of a path may be keys: some services have them there. */
const longestPart = 16;

/** Statuses with which a server says that there is nothing at an address, or nothing that takes a POST. */
const nothingThere: ReadonlySet<number> = new Set([404, 405]);

/** Tells whether a status, or the type of its body, is that of an address with no MCP server at it. */
export function isNoServer(status: number, contentType: string | null): boolean {
  return nothingThere.has(status) || (status < 300 && /^text\/html\b/i.test(contentType ?? ''));
}

/** The address is wrong: that does not mend itself, so a start that finds it so is not tried again by itself. */
export function wrongAddress(url: string, { status, said }: Strange): FailureFacts {
  const message = `${pathShown(url)} answered ${said}; check that the address is right`;
  return { kind: 'permanent', reason: 'not_found', message, outcome: 'not_started', status };
}

/** An address without what could be a secret in it. */
function pathShown(url: string): string {
  const { origin, pathname } = new URL(url);
  const parts = pathname.split('/').map((part) => (part.length > longestPart ? '...' : part));
  return `${origin}${parts.join('/')}`;
}
