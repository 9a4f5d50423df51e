import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { leanModule } from '../../scripts/leanModule.mjs';

describe('a module that is lean', () => {
  it('[U-8] takes what it imports of Node from Node itself, and imports the rest', () => {
    const code =
      '#!/usr/bin/env node\nimport{a}from"./a.js";import{join,sep as s}from"node:path";import"./b.js";import*as fs from"node:fs";join(s)';
    expect(leanModule(code)).toBe(
      '#!/usr/bin/env node\nimport{a}from"./a.js";const{join,sep:s}=process.getBuiltinModule("node:path");import"./b.js";import*as fs from"node:fs";join(s)',
    );
  });

  it('[U-8] leaves what a program says as it is, in ASCII', () => {
    const code = 'import{a}from"./a.js";const text=\'import{b}from"node:b";\'+`…😀`+/[–]/u.source;';
    const lean = leanModule(code);
    expect(lean).toMatch(/^[\0-\x7f]*$/);
    expect(lean).toContain('import{b}from"node:b";');
    expect(runInNewContext(`${lean.replace(/^.*?;/, '')}text`)).toBe('import{b}from"node:b";…😀[\\u2013]');
  });
});
