/** Part of a socket of Node that tells whether its connection still has another end. */
interface Handle {
  readonly getpeername?: (out: object) => number | undefined;
}

/**
 * Tells, within the `end` event of a socket, whether its connection was reset. Node up to 24 tells a reset that comes together with the last bytes
 * as an end: libuv takes the hang-up for one, and does not read the error. A connection that was closed in order still names its other end then; one
 * that was reset has none (ENOTCONN). Later the socket is ended from here too, and nothing can be told any more.
 *
 * @returns false where it cannot be told: a socket that is no TCP connection.
 */
export function wasReset(socket: object): boolean {
  // `remoteAddress` asks the same, and keeps the answer of whoever asked it first.
  const handle = Reflect.get(socket, '_handle') as Handle | null | undefined;
  return (handle?.getpeername?.({}) ?? 0) < 0;
}

/** The error that Node would have told. */
export function resetError(): Error {
  return Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET', syscall: 'read' });
}
