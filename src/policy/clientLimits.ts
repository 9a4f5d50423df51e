import { read, readInteger, readMessage, readString } from './errorChain.ts';
import { type Finding, means } from './finding.ts';

/** Names and codes with which HTTP clients, drivers and SDKs tell of a limit of their own. */
const limitNames = /^(?:\w*Timeout(?:Error)?|\w*TimedOut(?:Error)?)$/;
/** Clients give these to their own limits, and hand on the system's under the same name. */
const sharedCodes: ReadonlySet<string> = new Set(['ECONNABORTED', 'ETIMEDOUT', 'ETIMEOUT', 'ETIME', 'ESOCKETTIMEDOUT']);
/** Words of a limit; the system's own say `connect ETIMEDOUT 192.0.2.1:443`. */
const limitWords = /\btime(?:d )?[- ]?out\b|\btime limit\b|\bdeadline\b/i;
/** Steps before anything is sent. */
const connecting = /^(?:lookup|connect|secureConnect)$/;
const unconnected =
  /\b(?:did not|without) establish(?:ing)? a connection\b|\bconnect timeout\b|\bawaiting '(?:connect|lookup|secureConnect)'/i;

/**
 * Tells what the limit of the client that was used means: axios, got, ky, undici, superagent, the AWS SDK and those that are written like them. It is one of
 * ours, not a broken connection: what was sent may be under way.
 */
export function byClientLimit(error: unknown): Finding | undefined {
  const name = readString(error, 'name') ?? '';
  const code = readString(error, 'code');
  const message = readMessage(error);
  if (name === 'AbortError' && isOfTime(error)) return { ...means.timeout, code };
  // The system's own, as the client hands it on.
  if (isOfSystem(error) || isOfSystem(read(error, 'cause'))) return undefined;
  const isNamed = limitNames.test(name) || limitNames.test(className(error));
  const isCoded =
    code !== undefined && sharedCodes.has(code) && (limitWords.test(message) || isOfAxios(error, message));
  if (!isNamed && !isCoded) return undefined;
  const isBefore =
    connecting.test(readString(error, 'event') ?? '') ||
    read(error, 'beforeHandshake') === true ||
    code === 'UND_ERR_CONNECT_TIMEOUT' ||
    /^Connect(?:ion)?Time/.test(name) ||
    unconnected.test(message);
  return { ...(isBefore ? means.unsent : means.timeout), code };
}

/** An abort whose reason is a limit: `AbortSignal.timeout` handed to a client. */
function isOfTime(error: unknown): boolean {
  const inner = [read(error, 'cause'), read(error, 'reason')];
  return inner.some((each) => readString(each, 'name') === 'TimeoutError');
}

function isOfSystem(error: unknown): boolean {
  return readInteger(error, 'errno') !== undefined || readString(error, 'syscall') !== undefined;
}

/** Its limit may have words of the caller's; the same code without one is the end of a connection. */
function isOfAxios(error: unknown, message: string): boolean {
  const isAxios = readString(error, 'name') === 'AxiosError' || read(error, 'isAxiosError') === true;
  const limits = [read(error, 'timeout'), read(read(error, 'config'), 'timeout')];
  const isLimited = limits.some((each) => typeof each === 'number' && each > 0);
  return isLimited || (isAxios && read(error, 'cause') === undefined && !/aborted/i.test(message));
}

function className(error: unknown): string {
  return readString(read(error, 'constructor'), 'name') ?? '';
}
