import { expect, it } from 'vitest';
import { headersKey } from '../../../src/policy/options/httpKeys.ts';
import { readGiven } from '../../../src/policy/options/readOptions.ts';

it('[O-6] a header that cannot be sent is named, and what it says is not shown', () => {
  const read = (value: unknown) => () =>
    readGiven('options', { headers: { authorization: value } }, { headers: headersKey });
  expect(read('Bearer s3cret-value')).not.toThrow();
  for (const wrong of ['Bearer s3cret-value\r\nx: y', 'Bearer s3cret-value \u2028']) {
    let said = '';
    try {
      read(wrong)();
    } catch (error) {
      said = String(error);
    }
    expect(said).toMatch(/headers.*authorization.*text that a header can hold/);
    expect(said).not.toContain('s3cret');
  }
});
