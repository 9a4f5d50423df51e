import { fstatSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import { Readable, type Writable } from 'node:stream';
import { parsedJson } from '../../src/policy/text/face.ts';

/** Bytes of the input that are kept to be read; all of it is passed on, however long. */
const maxKeptBytes = 8 * 1024 * 1024;

/** Input of the host to the hook: passed on byte for byte as it comes, and read for what it is about. */
export type HostInput = ReturnType<typeof readHostInput>;

/** Reads nothing before somebody takes it: what came while the circuit was asked would be lost. */
export function readHostInput(host: Readable = hostStream()) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let said: HookInput | undefined;
  host.pause();
  host.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxKeptBytes) chunks.push(chunk);
  });
  const ended = new Promise<void>((resolve) => {
    host.once('error', () => resolve());
    host.once('end', () => {
      if (bytes <= maxKeptBytes) said = readHookInput(Buffer.concat(chunks).toString('utf8'));
      resolve();
    });
  });
  return {
    /** Content of it; undefined before its end, and when it is no JSON that names an event or longer than 8 MiB. */
    get said(): HookInput | undefined {
      return said;
    },
    /** Settles when the host has written all. It may never. */
    ended,
    passTo(child: Writable): void {
      // A hook may end or close its stdin without having read it.
      child.on('error', () => undefined);
      host.once('error', () => child.end());
      // A pipe that breaks stops the stream; the host still has to get rid of the rest.
      child.on('unpipe', () => host.resume());
      host.pipe(child);
    },
    /** Reads on without a child, so that the host is never kept waiting. */
    drop: () => void host.resume(),
  };
}

/** Stdin; where nothing can come of it, without what Node loads to read a file, by threads that look like processes that the hook has started. */
function hostStream(): Readable {
  try {
    const stdin = fstatSync(0);
    if (stdin.isCharacterDevice() && stdin.rdev === statSync(devNull).rdev) return Readable.from([]);
  } catch {
    // It is closed, which Node has its own way with.
  }
  return process.stdin;
}

/** Parts that a wrapper of a hook understands of the JSON its host writes to it. */
export interface HookInput {
  readonly event: string;
  readonly session: string | undefined;
  /** The tool's name for events of tools, else ''. */
  readonly action: string;
  /** All of it. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** Undefined when it is no JSON object that names its event. Never throws. */
export function readHookInput(json: string): HookInput | undefined {
  const value = parsedJson(json);
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  const { hook_event_name: event, session_id: session, tool_name: action } = fields;
  if (typeof event !== 'string' || event === '') return undefined;
  return {
    event,
    session: typeof session === 'string' ? session : undefined,
    action: typeof action === 'string' ? action : '',
    fields,
  };
}
