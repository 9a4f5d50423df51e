#!/usr/bin/env node
import { commandIndex } from './commandIndex.ts';
import { asksToBlock, watchHostLimit } from './hook/lastTimer.ts';
import { loadOrEnd, unloadedCode } from './unloaded.ts';

const words = process.argv.slice(2);
const at = commandIndex(words);
const verb = words[at] ?? '';
const isHook = verb === 'hook';
const own = words.toSpliced(at, 1);
// The night on which we are wrong: whatever stands behind a wrapper goes on without it.
const isOff = process.env['UNWEDGE'] === 'off' && ['acp', 'hook', 'mcp', 'run'].includes(verb);
void start();

async function start(): Promise<void> {
  const isHandedOver =
    isOff && (await (await loadOrEnd(() => import('./off/handOver.ts'), unloadedCode(verb))).handOver(verb, own));
  if (!isHandedOver) await work();
}

async function work(): Promise<void> {
  // Its host does not wait for what is loaded.
  if (isHook) await watchHostLimit(own);
  useCompileCache();
  // A hook runs before and after every tool call of an agent: its way loads nothing of the others'.
  if (isHook) {
    const { hookMain } = await loadOrEnd(() => import('./hook/hookMain.ts'), asksToBlock(own) ? 2 : 1);
    await hookMain(own);
    return;
  }
  const exitCode = unloadedCode(verb);
  // A server takes as long to load as what stands before it: both at once.
  if (verb === 'mcp' || verb === 'acp')
    (await loadOrEnd(() => import('./mcp/startServerAhead.ts'), exitCode)).startServerAhead(verb, own);
  const { main } = await loadOrEnd(() => import('./commandLine.ts'), exitCode);
  await main(words);
}

/** Keeps what V8 made of our files for the next process; Node 22.8 and newer, and asked of no other: the module takes its time to load. */
function useCompileCache(): void {
  if (Number.parseInt(process.versions.node, 10) < 22) return;
  const module = process.getBuiltinModule('node:module') as { readonly enableCompileCache?: () => unknown };
  module.enableCompileCache?.();
}
