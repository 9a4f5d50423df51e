import { describe, expect, it, vi } from 'vitest';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createShownNames, withShownNames } from '../../src/redaction/shownNames.ts';

/** Built from parts, so that scanners of this repository do not take them for real. */
const key = (end: string): string => ['sk', 'ant', 'api03', `aB3x7890aB3x7890${end}`].join('-');

describe('a name that is shown', () => {
  it.each(['kb', 'server-filesystem', 'agent:main', 'hook:guard', 'claude -p', 'mcp:files', 'kb@4711'])(
    'stays as it is: %s',
    (name) => {
      expect(createShownNames()(name)).toBe(name);
    },
  );

  it('[O-8] loses what the environment of this process holds secret', () => {
    vi.stubEnv('LEDGER_PASSWORD', 'planted-password-9');
    expect(createShownNames()('charge planted-password-9')).toMatch(/^charge \S*redacted\S*#[0-9a-f]{6}$/);
  });

  it('[O-8] loses what has the shape of a secret', () => {
    const token = ['ghp', 'aB3x'.repeat(9)].join('_');
    expect(createShownNames()(key('a'))).toMatch(/^\[redacted\]#[0-9a-f]{6}$/);
    expect(createShownNames()(`files ${token}`)).toMatch(/^files \[redacted\]#[0-9a-f]{6}$/);
    expect(createShownNames()('https://me:s3cr3t@host/mcp')).toMatch(
      /^https:\/\/me:\[redacted\]@host\/mcp#[0-9a-f]{6}$/,
    );
  });

  it('[O-8] is never the same as that of another', () => {
    const shown = createShownNames();
    expect(shown(key('a'))).not.toBe(shown(key('b')));
    expect(shown(key('a'))).toBe(createShownNames()(key('a')));
  });

  it('[N-1] of a text beyond 1,024 bytes is cut, and not the same as that of another', () => {
    const shown = createShownNames();
    const long = shown(`${'é'.repeat(512)}a`);
    expect(long).toMatch(/^é{200}…#[0-9a-f]{6}$/);
    expect(shown(`${'é'.repeat(512)}b`)).not.toBe(long);
    expect(shown(long)).toBe(long);
    expect(shown('é'.repeat(512))).toBe('é'.repeat(512));
  });

  it('is shown as it is when it is shown again', () => {
    const shown = createShownNames();
    const once = shown(key('a'));
    expect(shown(once)).toBe(once);
  });

  it('[O-8] loses secrets that are known by their value, also those that are learnt later', () => {
    const secrets = new KnownSecrets();
    const shown = createShownNames(secrets);
    expect(shown('kb-plain-words')).toBe('kb-plain-words');
    secrets.learnValues(['plain-words']);
    expect(shown('kb-plain-words')).toMatch(/^kb-\[redacted\]#/);
  });
});

describe('data with names', () => {
  it('[O-8] is copied with its names as they may be shown, and nothing else changed', () => {
    const shown = createShownNames();
    const [one, other] = [key('a'), key('b')];
    const data = {
      integrations: [{ integration: one, failures: 1, tools: [{ tool: other }] }],
      groups: [{ group: 'files', integrations: [one, 'kb'] }],
      message: 'as it was',
      at: 1,
      none: undefined,
    };
    expect(withShownNames(data, shown)).toEqual({
      integrations: [{ integration: shown(one), failures: 1, tools: [{ tool: shown(other) }] }],
      groups: [{ group: 'files', integrations: [shown(one), 'kb'] }],
      message: 'as it was',
      at: 1,
      none: undefined,
    });
  });
});
