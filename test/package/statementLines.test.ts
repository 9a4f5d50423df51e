import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { statementLines } from '../../scripts/statementLines.mjs';

describe('the lines of what runs', () => {
  it('[L-6] are one statement each, and mean the same', () => {
    expect(statementLines('#!/usr/bin/env node\nimport{a}from"./a.js";const f=()=>{a();return{a:1}};for(;;)f()')).toBe(
      '#!/usr/bin/env node\nimport{a}from"./a.js";\nconst f=()=>{a();\nreturn{a:1}\n};\nfor(;;)f()',
    );
    expect(statementLines('switch(x){case 1:a();break}class A{b=1;static{c()}}if(a)b();else c()')).toBe(
      'switch(x){case 1:a();\nbreak\n}\nclass A{b=1;\nstatic{c()\n}\n}\nif(a)b();else c()',
    );
  });

  it('[L-6] make an uncaught error a page to read at most, not a whole file', async () => {
    const program = `import { createGateway } from './dist/index.js'; createGateway({ stor: 'a.sqlite' });`;
    const { stderr, exitCode } = await execa(process.execPath, ['--input-type=module', '--eval', program], {
      reject: false,
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('RangeError: Unknown option `stor`; did you mean store?');
    expect(stderr.length).toBeLessThan(2_000);
  });
});
