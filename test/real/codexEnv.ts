import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const vendor = fileURLToPath(
  new URL(`node_modules/@openai/codex-${process.platform}-${process.arch}/vendor`, import.meta.url),
);

/** The native program of the installed package: it lies below the name of its target. */
export const codexPath = join(vendor, existsSync(vendor) ? (readdirSync(vendor)[0] ?? '') : '', 'bin', 'codex');

/** Whether it is installed; `npm ci` in this directory does it. */
export const hasCodex = existsSync(codexPath);
