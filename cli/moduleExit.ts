import { writeSync } from 'node:fs';
import { sanitize, toJson } from './sanitize.ts';

/** End of the process by the module of a configuration. */
interface ModuleExit {
  /** The file that is run, as it was given. */
  readonly file: string;
  /** Whatever code the module gave. */
  readonly exitCode: number;
  /** Aborted when the process was told to end: what it ends with is then not the module's doing. */
  readonly signal?: AbortSignal | undefined;
  /** Tells it as data on stdout. @defaultValue false: a line on stderr */
  readonly json?: boolean | undefined;
}

/** Runs what runs a module of somebody else's: if that ends the process, it must not pass for a success. */
export async function duringModule<T>(
  { file, exitCode, signal, json = false }: ModuleExit,
  work: () => Promise<T>,
): Promise<T> {
  const tell = (): void => {
    if (signal?.aborted === true) return;
    process.exitCode = exitCode;
    const message = `${sanitize(file)}: ended the process instead of giving a configuration`;
    const expected = 'a module that ends';
    const problem = { path: '', expected, source: { from: 'file', file }, message };
    try {
      if (json) writeSync(1, toJson({ ok: false, problems: [problem] }));
      else writeSync(2, `unwedge: ${message}\n`);
    } catch {
      // Nobody reads it; the exit code says it too.
    }
  };
  process.once('exit', tell);
  try {
    return await work();
  } finally {
    process.off('exit', tell);
  }
}
