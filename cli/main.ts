#!/usr/bin/env node
import * as module from 'node:module';
import { commandIndex } from './commandIndex.ts';
import { asksToBlock, watchHostLimit } from './hook/lastTimer.ts';
import { loadOrEnd, unloadedCode } from './unloaded.ts';

const { enableCompileCache } = module as typeof module & { readonly enableCompileCache?: () => unknown };
const words = process.argv.slice(2);
const at = commandIndex(words);
const isHook = words[at] === 'hook';
const own = words.toSpliced(at, 1);
// Its host does not wait for what is loaded.
if (isHook) watchHostLimit(own);
// Node 22.8 and newer.
enableCompileCache?.();
// A hook runs before and after every tool call of an agent: its way loads nothing of the others'.
if (isHook) {
  const { hookMain } = await loadOrEnd(() => import('./hook/hookMain.ts'), asksToBlock(own) ? 2 : 1);
  await hookMain(own);
} else {
  const exitCode = unloadedCode(words[at]);
  // A server takes as long to load as what stands before it: both at once.
  const verb = words[at];
  if (verb === 'mcp' || verb === 'acp')
    (await loadOrEnd(() => import('./mcp/startServerAhead.ts'), exitCode)).startServerAhead(verb, own);
  const { main } = await loadOrEnd(() => import('./commandLine.ts'), exitCode);
  await main(words);
}
