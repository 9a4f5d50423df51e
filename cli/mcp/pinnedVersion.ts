import { packageRun, packagesNamed } from './packageRunner.ts';
import { baseName, containers, imageWord, wrapped } from './serverName.ts';

const npmVersion = /^(?:npm:)?(?:@[^/@\s]+\/)?[^/@\s]+@\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
const pythonVersion = /^[\w.-]+(?:\[[\w,.\s-]*\])?(?:==|@)\d+(?:\.\d+)+[\w.+!-]*$/;
const commit = /(?:[#@])[0-9a-f]{40}$/;
const jsrVersion = /^jsr:@[^/@\s]+\/[^/@\s]+@\d+\.\d+\.\d+(?:[-+][\w.+-]+)?$/;
const imageVersion = /(?:@sha256:[0-9a-f]{64}|:v?\d+(?:\.\d+)+(?:[-+.][\w.+-]+)?)$/;
const localFile = /^(?:\.{0,2}\/|[a-z]:).|\.(?:[cm]?[jt]sx?|py)$/i;
/** Commands one behind the other that are looked through. */
const mostWrappers = 8;

/**
 * Tells whether the same words start the same server each time, as far as they tell: those of `npx`, `uvx` and `docker` fetch another one tomorrow, unless
 * its version is named.
 */
export function isPinned(command: string, args: readonly string[], wrappers = 0): boolean {
  const program = programOf(command);
  if (isShellText(program, args)) {
    const [inner, ...innerArgs] = wrapped(program, args);
    return inner !== undefined && wrappers < mostWrappers && isPinned(inner, innerArgs, wrappers + 1);
  }
  const [inner, ...innerArgs] = wrapped(program, args);
  if (inner !== undefined) return wrappers < mostWrappers && isPinned(inner, innerArgs, wrappers + 1);
  if (containers.has(program)) {
    const image = args.includes('run') && !args.includes('compose') ? imageWord(args) : undefined;
    return image !== undefined && imageVersion.test(image);
  }
  const run = packageRun(program, args);
  if (run !== undefined || runners.has(program)) {
    const named = packagesNamed(args);
    const specs = named.length > 0 ? named : run === undefined ? [] : [run];
    return specs.length > 0 && specs.every(isExact);
  }
  return args.every((word) => !/^(?:npm|jsr):/.test(word) || isExact(word));
}

/** Run a package in each of their forms. */
const runners: ReadonlySet<string> = new Set(['npx', 'bunx', 'pnpx', 'uvx', 'pipx']);

const isExact = (spec: string): boolean =>
  [npmVersion, pythonVersion, jsrVersion, commit, localFile].some((form) => form.test(spec));

const isShellText = (program: string, args: readonly string[]): boolean =>
  /^(?:ba|da|z|k|fi)?sh$/.test(program) && args.some((word) => /^-\w*c$/.test(word));

export function programOf(command: string): string {
  return baseName(command)
    .replace(/\.(?:exe|cmd|bat)$/i, '')
    .toLowerCase();
}
