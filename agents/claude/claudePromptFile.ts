import { type PromptFile, fitsInline, writePromptFile } from '../../src/actors/prompt/face.ts';

/** Writes a system prompt that a command line has no room for to a file; undefined when it has. */
export async function fileForLong(systemPrompt: string): Promise<PromptFile | undefined> {
  return fitsInline(systemPrompt) ? undefined : await writePromptFile(systemPrompt);
}
