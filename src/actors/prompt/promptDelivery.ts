import { AttemptError } from '../../policy/failures/failure.ts';
import { writePromptFile } from './promptFile.ts';

/** Route of a prompt to a command. */
export type PromptBy = 'stdin' | 'file' | 'argument';

/** Longest prompt among the arguments, in bytes of UTF-8: everybody on the machine can read them, and their length is limited. */
const longestInlineBytes = 10_000;

const inline = '{prompt}';
const inFile = '{promptFile}';

/** Target of a prompt. */
interface PromptRoute {
  readonly args: readonly string[];
  readonly stdin?: string | Uint8Array | undefined;
  /** @defaultValue what the arguments have a placeholder for, else `stdin` */
  readonly promptBy?: PromptBy | undefined;
  /** For private files. @defaultValue the system's directory for temporary files */
  readonly directory?: string | undefined;
}

/** The same command with its prompt. */
export interface DeliveredPrompt {
  readonly args: readonly string[];
  readonly stdin: string | Uint8Array | undefined;
  /** Removes what was written for it. Never rejects. */
  readonly remove: () => Promise<void>;
}

/** Puts a prompt where a command reads it. @throws {@link AttemptError} of outcome `not_started` when it cannot go there. */
export async function deliverPrompt(prompt: string, route: PromptRoute): Promise<DeliveredPrompt> {
  if (prompt.trim() === '') throw refused('The prompt is empty');
  const { args, stdin } = route;
  const by = route.promptBy ?? placeholderOf(args);
  const nothing = (): Promise<void> => Promise.resolve();
  if (by === 'file') {
    const file = await writePromptFile(prompt, route.directory).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
      const message = `The prompt could not be written to a file (${code ?? 'no reason given'})`;
      throw new AttemptError({ kind: 'spawn', message, outcome: 'not_started', code, cause: error });
    });
    return { args: filled(args, inFile, file.path), stdin, remove: file.remove };
  }
  if (by === 'argument' && fitsInline(prompt) && !isOption(prompt, args))
    return { args: filled(args, inline, prompt), stdin, remove: nothing };
  if (stdin !== undefined) throw refused('The prompt goes by stdin, and so does what was given for stdin');
  if (by === 'stdin') return { args, stdin: prompt, remove: nothing };
  const embedded = args.find((word) => word.includes(inline) && word !== inline);
  if (embedded !== undefined) {
    const bytes = Buffer.byteLength(prompt);
    throw refused(`A prompt of ${bytes} bytes cannot be part of an argument; use {promptFile}`, 'message_too_large');
  }
  return { args: args.filter((word) => word !== inline), stdin: prompt, remove: nothing };
}

/** Tells whether a text may be an argument: a null byte would end it. */
export function fitsInline(prompt: string): boolean {
  return Buffer.byteLength(prompt) <= longestInlineBytes && !prompt.includes('\0');
}

/** Tells whether a prompt that is an argument of its own would be read as an option: behind `--` nothing is. */
function isOption(prompt: string, args: readonly string[]): boolean {
  const at = args.findIndex((word) => word.includes(inline));
  const isWhole = at < 0 || args.some((word) => word === inline);
  return isWhole && prompt.startsWith('-') && !args.slice(0, at < 0 ? args.length : at).includes('--');
}

function placeholderOf(args: readonly string[]): PromptBy {
  if (args.some((word) => word.includes(inFile))) return 'file';
  return args.some((word) => word.includes(inline)) ? 'argument' : 'stdin';
}

/** Without a placeholder it comes last. What the value itself holds is never taken for one. */
function filled(args: readonly string[], placeholder: string, value: string): readonly string[] {
  if (!args.some((word) => word.includes(placeholder))) return [...args, value];
  return args.map((word) => word.split(placeholder).join(value));
}

function refused(message: string, reason?: 'message_too_large'): AttemptError {
  return new AttemptError({ kind: 'permanent', reason, message, outcome: 'not_started' });
}
