import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { KnownSecrets } from '../../src/redaction/knownSecrets.ts';
import { createFactRedactor } from '../../src/redaction/redactFact.ts';
import { createTextRedactor, redactText } from '../../src/redaction/secrets.ts';

/** Built from parts, so that scanners of this repository do not take them for real. */
const x = (length: number): string => 'aB3x'.repeat(Math.ceil(length / 4)).slice(0, length);

describe('a text with a secret', () => {
  it.each([
    ['gsk', `gsk_${x(52)}`],
    ['xai', `xai-${x(80)}`],
    ['pplx', `pplx-${x(48)}`],
    ['r8', `r8_${x(37)}`],
    ['SendGrid', `SG.${x(22)}.${x(43)}`],
    ['Vault', `hvs.${x(92)}`],
    ['Vault, of a batch', `hvb.${x(92)}`],
    ['Dynatrace', `dt0c01.${x(24)}.${x(64)}`],
    ['Doppler', `dp.pt.${x(43)}`],
    ['Doppler, of a service account', `dp.sa.${x(43)}`],
    ['Airtable', `pat${x(14)}.${'0a1b'.repeat(16)}`],
    ['Dropbox', `sl.${x(130)}`],
    ['Dropbox, for a while', `sl.u.${x(130)}`],
    ['Docker', `dckr_pat_${x(27)}`],
    ['Shopify', `shpss_${'0a1b'.repeat(8)}`],
    ['Twilio', `SK${'0a1b'.repeat(8)}`],
    ['temporary AWS', `ASIA${'A1B2'.repeat(4)}`],
    ['Tavily', `tvly-${x(32)}`],
    ['Google sign-in', `ya29.a0${x(120)}`],
    ['Google sign-in, for later', `1//0${x(60)}`],
    ['Google client', `GOCSPX-${x(28)}`],
    ['Gemini, newer', `AQ.Ab8${x(44)}`],
    ['Supabase', `sbp_${'0a1b'.repeat(10)}`],
    ['Supabase, newer', `sb_secret_${x(22)}_${x(8)}`],
    ['Cerebras', `csk-${'0a1b'.repeat(12)}`],
    ['Fireworks', `fw_${x(24)}`],
    ['Together', `tgp_v1_${x(43)}`],
    ['ElevenLabs', `sk_${'0a1b'.repeat(12)}`],
    ['Vercel', `vck_${x(24)}`],
    ['RunPod', `rpa_${x(40)}`],
    ['Apify', `apify_api_${x(36)}`],
    ['Brave', `BSA${x(28)}`],
    ['Notion, earlier', `secret_${x(43)}`],
    ['Linear, signed in', `lin_oauth_${'0a1b'.repeat(16)}`],
    ['HubSpot', `pat-na1-${'0a1b'.repeat(2)}-0a1b-0a1b-0a1b-${'0a1b'.repeat(3)}`],
    ['Resend', `re_${x(8)}_${x(24)}`],
    ['Neon', `napi_${x(64)}`],
    ['Tailscale', `tskey-auth-${x(17)}-${x(32)}`],
    ['New Relic', `NRAK-${'A1B2'.repeat(7)}`],
    ['Netlify', `nfp_${x(36)}`],
    ['Cloudflare', `cfut_${x(40)}`],
    ['Bitbucket', `ATBB${x(32)}`],
    ['Telegram', `bot123456789:${'aB3x-'.repeat(7)}`],
  ])('[O-8] loses a token by its shape: %s', (_, secret) => {
    expect(redactText(`before ${secret}, after`)).toBe('before [redacted], after');
  });

  it.each([
    ['Authorization: Token s3cr3t-value', 'Authorization: [redacted]'],
    ['authorization: ApiKey s3cr3t', 'authorization: [redacted]'],
    [`curl -H 'Authorization: Token abc' x`, `curl -H 'Authorization: [redacted]' x`],
    ['{"Authorization":"Token abc"}', '{"Authorization":"[redacted]"}'],
    ['Authorization: Digest username="me", response="abc", nc=1', 'Authorization: [redacted]'],
    [`Authorization: Token gsk_${x(52)}`, 'Authorization: [redacted]'],
    ['Cookie: a=first; sid=second; c=third', 'Cookie: [redacted]'],
    ['Set-Cookie: sid=hunter2; Path=/', 'Set-Cookie: [redacted]; Path=/'],
    ['{"body":"{\\"password\\":\\"hunter2\\",\\"a\\":1}"}', '{"body":"{\\"password\\":\\"[redacted]\\",\\"a\\":1}"}'],
    ['\\\\\\"token\\\\\\":\\\\\\"hunter2\\\\\\"', '\\\\\\"token\\\\\\":\\\\\\"[redacted]\\\\\\"'],
    ['{"password":"pa\\"ss","a":1}', '{"password":"[redacted]","a":1}'],
    ['{"secret":["one","two"],"a":1}', '{"secret":[redacted],"a":1}'],
    ['private_key=abc123', 'private_key=[redacted]'],
    ['https://h/x?pwd=hunter2&a=1', 'https://h/x?pwd=[redacted]&a=1'],
    ['{"pwd":"hunter2"}', '{"pwd":"[redacted]"}'],
    ['AccountName=me;AccountKey=Ab+/3==;End=x', 'AccountName=me;AccountKey=[redacted];End=x'],
    ['https://b.test/c?sv=1&sig=a%2Fb%3D', 'https://b.test/c?sv=1&sig=[redacted]'],
    ['Ocp-Apim-Subscription-Key: 0a1b2c', 'Ocp-Apim-Subscription-Key: [redacted]'],
    ['https://g.test/v1?key=abcdefgh1', 'https://g.test/v1?key=[redacted]'],
    ['https://s3.test/x?X-Amz-Signature=0a1b', 'https://s3.test/x?X-Amz-Signature=[redacted]'],
    [
      `to https://hooks.slack.com/services/T0AAA/B0BBB/${x(24)} now`,
      'to https://hooks.slack.com/services/[redacted] now',
    ],
    [`https://discord.com/api/webhooks/123456/${x(40)}`, 'https://discord.com/api/webhooks/[redacted]'],
    ['https://s3cr3t@host.test/x', 'https://[redacted]@host.test/x'],
    ['git+https://s3cr3t@host.test/x', 'git+https://[redacted]@host.test/x'],
    ['postgres://me:p@ss@db.test/x', 'postgres://me:[redacted]@db.test/x'],
    ['curl -u me:hunter2 https://h', 'curl -u me:[redacted] https://h'],
    [`curl --user 'me:hunter2' https://h`, `curl --user 'me:[redacted]' https://h`],
    ["serve --api-key 'two words' --port 80", "serve --api-key '[redacted]' --port 80"],
    ['password: hunter two', 'password: [redacted] two'],
    ['passphrase: correct horse battery staple', 'passphrase: [redacted] horse battery staple'],
    ['password: the-one', 'password: [redacted]'],
    ['password: is.it', 'password: [redacted]'],
    ['password=the one', 'password=[redacted] one'],
    ['token: expired7', 'token: [redacted]'],
    ['token: 123456 used', 'token: [redacted] used'],
    ['token: 123', 'token: [redacted]'],
    ['authorization: basic abcdef', 'authorization: [redacted]'],
    ['authorization: invalid a1b2c3', 'authorization: [redacted]'],
    ['authorization: header AbCdEf', 'authorization: [redacted]'],
    ['password: "the one"', 'password: "[redacted]"'],
    ['mypasswd:12', 'mypasswd:[redacted]'],
    ['password => "x", a => 1', 'password => "[redacted]", a => 1'],
  ])('[O-8] loses what stands under a name: %s', (text, clean) => {
    expect(redactText(text)).toBe(clean);
  });

  it.each([
    'ssh://git@host.test/x',
    'postgres://me@db.test/x',
    'PWD=/home/me',
    'https://h.test/x?a=me@x.test',
    'authorization failed: no key',
    'token: null',
    'invalid token: expired at 10:00',
    'invalid token: expired',
    'authorization: header missing',
    'Authorization: The header is missing',
    'Password: the field is missing',
    'secret: no such file or directory',
    'token: 12 used of 10',
    'client_secret: value required; see the page',
    'Cannot start "/etc/passwd": the file is not executable',
    'process:passwd:1 and "process:passwd:12@27937"',
    'password=false',
    '12 passed, pass rate=3',
    'exit code=1012',
    'x_fw_update_to_version_2 and fw_version_1_of_the_board, sk_buffer_of_4096_bytes_in_use, re_2_compile_of_the_pattern',
    'secret_of_the_2_services, sl.wikipedia.org/wiki/Stran and sbp_report_for_2024, AQ.1 and BSA1234',
    'fc-list-of-fonts-in-a-row and key-value-store-adapter',
    'processTicksAndRejections (node:internal/process/task_queues:105:5)',
  ])('keeps what is none: %s', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('[O-8] is read in time that grows no faster than it, whatever it is', () => {
    const pieces = [
      'token:{',
      'token:"',
      "token:\\\\'",
      'token:\\"x" ',
      'tokentoken',
      '://a:b',
      '://',
      '--',
      '-u a',
      'Authorization: a,b=',
      'cookie=a=b;',
      'cookie: a',
      'token: the ',
      'authorization: the ',
      'process:token:1 ',
      '-----BEGIN PRIVATE KEY-----',
      'Bearer ',
      'basic aaaa',
      'eyJ',
      'sk-',
      '\\\\',
      'a'.repeat(13),
      '_-',
      'hooks.slack.com/services/',
      '1234567890:',
    ];
    for (const piece of pieces) {
      const start = performance.now();
      redactText(piece.repeat(400_000 / piece.length));
      // It takes some 50 ms; a search that is quadratic takes minutes.
      expect([piece, performance.now() - start < 5_000]).toEqual([piece, true]);
    }
  });
});

describe('a list', () => {
  it('[O-8] loses what follows a flag or the name of a header', () => {
    const redact = createFactRedactor();
    expect(
      redact({ args: ['run', '--token', 'hunter2', '-v'], rawHeaders: ['Authorization', 'Token x', 'Host', 'h'] }),
    ).toEqual({
      args: ['run', '--token', '[redacted]', '-v'],
      rawHeaders: ['Authorization', '[redacted]', 'Host', 'h'],
    });
  });
});

describe('a known secret', () => {
  const value = 'correct/horse "battery" + staple?';
  const secrets = new KnownSecrets({ KB_PASSWORD: value });
  const { text } = createTextRedactor(secrets);
  const base64 = (before: string, after: string): string => Buffer.from(`${before}${value}${after}`).toString('base64');

  it.each([
    ['as it is', value],
    ['URL-encoded', encodeURIComponent(value)],
    ['URL-encoded in part', encodeURI(value)],
    ['URL-encoded in lower case', encodeURIComponent(value).toLowerCase().replaceAll('%2f', '%2f')],
    ['as a form encodes it', new URLSearchParams({ q: value }).toString().slice(2)],
    ['in JSON', JSON.stringify(value).slice(1, -1)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(value)).slice(3, -3)],
    ['in base64', base64('', '')],
    ['in base64 after one character', base64('u', '')],
    ['in base64 between others', base64('me:', '!')],
    ['in base64 for addresses', Buffer.from(`me:${value}`).toString('base64url')],
  ])('[O-8] is found %s', (_, written) => {
    expect(text(`at ${written} there`)).toBe('at [redacted] there');
  });

  it('[O-8] is one by the name of its variable, by its shape, as a password of an address, and line by line', () => {
    const lines = ['-----BEGIN X-----', 'MIIEowIBAAKCAQEAline1', 'MIIEowIBAAKCAQEAline2'];
    const known = new KnownSecrets({
      GH_PAT: 'hand-made-words',
      DB_PASS: 'other-words',
      URL_OF_DB: 'postgres://me:pw%2Fwith@db.test/x',
      AZURE: 'AccountName=me;AccountKey=0a1b2c3d4e5f==;X=1',
      PLAIN: 'Zk3hWq9LxP2mVt7RbN4c',
      HEADER_AUTH: 'Custom credentials-of-it',
      SIGNING_KEY: lines.join('\n'),
    });
    const hide = (given: string): string => known.hide(given);
    expect(hide('hand-made-words other-words')).toBe('[redacted] [redacted]');
    expect(hide('pw%2Fwith and pw/with')).toBe('[redacted] and [redacted]');
    expect(hide('0a1b2c3d4e5f==')).toBe('[redacted]');
    expect(hide('Zk3hWq9LxP2mVt7RbN4c')).toBe('[redacted]');
    expect(hide('credentials-of-it')).toBe('[redacted]');
    expect(hide(lines[2] ?? '')).toBe('[redacted]');
  });

  it.each([
    ['of a user alone', { URL_OF_DB: 'postgres://unwedge@db.test/x' }, 'unwedge'],
    [
      'of a longer user alone',
      { URL_OF_DB: 'postgres://unwedge_service_account@db.test/x' },
      'unwedge_service_account',
    ],
    ['of a user of the web alone', { PROXY: 'http://some-user@proxy.test:3128' }, 'some-user'],
    ['of a user with a password', { URL_OF_DB: 'postgres://unwedge:0a1b2c3d@db.test/x' }, 'unwedge'],
    ['of a password that is a word', { URL_OF_DB: 'postgres://postgres:postgres@db.test/x' }, 'postgres'],
    ['of a short password', { URL_OF_DB: 'redis://:abc1@db.test/x' }, 'abc1'],
    [
      'under the name of a secret',
      { AUTH: 'required', API_KEY: 'Production', GH_TOKEN: 'disabled' },
      'required, Production, disabled',
    ],
    ['in a connection string', { AZURE: 'AccountName=me;Password=password;X=1' }, 'password'],
  ])('[O-8] is no ordinary name or word: %s', (_, variables, text) => {
    expect(new KnownSecrets(variables as Record<string, string>).hide(`at ${text} there`)).toBe(`at ${text} there`);
  });

  it('[O-8] is a token that stands alone before the host of an address', () => {
    const known = new KnownSecrets({
      NPM_REGISTRY: 'https://0a1b2c3d4e5f-of-mine@npm.test/',
      DB: `postgres://${x(24)}@db.test`,
    });
    expect(known.hide(`0a1b2c3d4e5f-of-mine ${x(24)}`)).toBe('[redacted] [redacted]');
  });

  it.each([
    ['NODE_ENV', 'production'],
    ['PWD', '/home/me/work'],
    ['SSH_AUTH_SOCK', '/tmp/ssh-1/agent.1'],
    ['TERM', 'xterm-256color'],
    ['ANTHROPIC_MODEL', 'claude-sonnet-4-5-20250929'],
    ['HOSTNAME', 'ip-10-0-0-1.eu-central-1.compute.internal'],
    ['DATABASE_URL', 'postgres://db.test/x'],
    ['MAX_OUTPUT_TOKENS', '1234567890'],
  ])('is none: %s', (name, plain) => {
    expect(new KnownSecrets({ [name]: plain }).hide(plain)).toBe(plain);
  });

  it('[O-8] may be learnt later: what was clean before is looked at again', () => {
    const later = new KnownSecrets();
    const redactor = createTextRedactor(later);
    const line = `${'a line that is long enough to be remembered as clean '.repeat(3)}learnt-later-on`;
    expect([redactor.text(line), redactor.name('learnt-later-on').clean]).toEqual([line, 'learnt-later-on']);
    later.learn({ CHILD_TOKEN: 'learnt-later-on' });
    expect(redactor.text(line)).not.toContain('learnt');
    expect(redactor.name('learnt-later-on').clean).toBe('[redacted]');
  });
});

it('[O-8] keeps of a text that it remembers nothing of what that was cut from', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const texts = createTextRedactor();
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let at = 0; at < 500; at++) {
    const chunk = Buffer.alloc(100_000, `line ${at} of what a child wrote\n`).toString('latin1');
    texts.text(chunk.slice(0, 40));
  }
  collect();
  // The chunks together are 50 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(25_000_000);
});
