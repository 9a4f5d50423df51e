#!/usr/bin/env node
import * as module from 'node:module';

const { enableCompileCache } = module as typeof module & { readonly enableCompileCache?: () => unknown };
// Node 22.8 and newer.
enableCompileCache?.();

const [name, ...words] = process.argv.slice(2);
// A hook runs before and after every tool call of an agent: its way loads nothing of the others'.
if (name === 'hook') await (await import('./hook/hookMain.ts')).hookMain(words);
else await (await import('./commandLine.ts')).main(process.argv.slice(2));
