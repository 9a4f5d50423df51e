#!/usr/bin/env node
import * as module from 'node:module';
import { commandIndex } from './commandIndex.ts';
import { watchHostLimit } from './hook/lastTimer.ts';

const { enableCompileCache } = module as typeof module & { readonly enableCompileCache?: () => unknown };
// Node 22.8 and newer.
enableCompileCache?.();

const words = process.argv.slice(2);
const at = commandIndex(words);
// A hook runs before and after every tool call of an agent: its way loads nothing of the others'.
if (words[at] === 'hook') {
  const own = words.toSpliced(at, 1);
  watchHostLimit(own);
  await (await import('./hook/hookMain.ts')).hookMain(own);
} else {
  // A server takes as long to load as what stands before it: both at once.
  if (words[at] === 'mcp') (await import('./mcp/startServerAhead.ts')).startServerAhead(words.toSpliced(at, 1));
  await (await import('./commandLine.ts')).main(words);
}
