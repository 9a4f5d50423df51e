import { type Key, text } from './optionKeys.ts';

/** Tells whether a text is an address that requests can go to: http or https, without user name and password. */
export function isAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, username, password } = new URL(text);
  return /^https?:$/.test(protocol) && username === '' && password === '';
}

/** A header may not break its line, and has no characters that a byte cannot hold. */
const headerValue = /^[\t\x20-\x7e\x80-\xff]*$/;

/** The option of headers; what they say is never shown. One that is `undefined` is taken out. */
export const headersKey: Key<Readonly<Record<string, string | undefined>> | undefined> = {
  kind: 'names',
  of: text({
    empty: true,
    secret: true,
    form: (value) => headerValue.test(value),
    expected: 'text that a header can hold',
  }),
  gaps: true,
  name: /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/,
  expected: 'an object of strings',
};
