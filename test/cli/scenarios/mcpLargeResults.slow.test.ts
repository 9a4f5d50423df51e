import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { makeHome } from '../startMcp.ts';
import { type ModernClient, officialPackages, startOfficial } from '../startOfficial.ts';

const limit = 20_000;
const words = ['--max-result', '20kB'];
const read = 'unwedge_read_result';

interface Told {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly data?: string }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
  readonly _meta?: { readonly [key: string]: Readonly<Record<string, number | string | undefined>> };
}

const call = async (client: ModernClient, name: string, args: Record<string, unknown>): Promise<Told> =>
  (await client.callTool({ name, arguments: args })) as unknown as Told;
const textOf = ({ content }: Told): string => content.map(({ text = '' }) => text).join('');

/** All that is kept of a result, page by page as the text of each says. */
async function readOn(client: ModernClient, handle: unknown, from: number): Promise<string> {
  let whole = '';
  for (let next: number | undefined = from, pages = 0; next !== undefined; pages++) {
    const page: Told = await call(client, read, { handle, from: next });
    const [text, note] = page.content.map(({ text: each = '' }) => each);
    expect(Buffer.byteLength(text ?? '')).toBeLessThanOrEqual(limit);
    expect(page._meta?.['unwedge/page']?.['from']).toBe(next);
    expect(pages).toBeLessThan(1000);
    whole += text;
    const said = /Read on from (\d+)/.exec(note ?? '')?.[1];
    next = said === undefined ? undefined : Number(said);
  }
  return whole;
}

/** Characters of one to four bytes, with lines of many lengths, and one far longer than a page. */
const long = `${Array.from({ length: 3000 }, (_, at) => `${at} ${'grüße 漢字 😀 '.repeat(at % 9)}`).join('\n')}\n${'é漢😀'.repeat(9000)}\nthe end`;

function startFiles(package_: (typeof officialPackages)[number]) {
  const folder = join(makeHome().directory, 'files');
  mkdirSync(folder);
  const path = (name: string): string => join(folder, name);
  writeFileSync(path('long.txt'), long);
  return startOfficial(package_, 'filesystem', { words, of: [folder] }).then(({ client }) => ({ client, path }));
}

describe.each(officialPackages)('large results of a real server, for the official client (%s)', (package_) => {
  it('[P-12] files: 300 kB beyond ASCII are told as head and tail, and read back byte for byte', async () => {
    const { client, path } = await startFiles(package_);
    expect(Buffer.byteLength(long)).toBeGreaterThan(300_000);
    const listed = (await client.listTools()).tools.map(({ name }) => name);
    expect(listed).toContain(read);
    const told = await call(client, 'read_text_file', { path: path('long.txt') });
    const [note, head, gap, tail] = told.content.map(({ text = '' }) => text);
    expect(Buffer.byteLength(textOf(told))).toBeLessThan(limit + 1000);
    expect(note).toContain(`Of ${Buffer.byteLength(long)} bytes of text`);
    expect(long.startsWith(head ?? '-') && long.endsWith(tail ?? '-')).toBe(true);
    expect(gap).toContain('are left out here');
    const { handle } = told._meta?.['unwedge/result'] ?? {};
    const from = Number(/"from":(\d+)/.exec(note ?? '')?.[1]);
    // What is compared is long: a difference is not to be printed.
    expect(head + (await readOn(client, handle, from)) === long).toBe(true);
    expect((await readOn(client, handle, 0)) === long).toBe(true);
  });

  it('[P-12] files: a page from the middle of a character begins with a whole one', async () => {
    const { client, path } = await startFiles(package_);
    const { handle } =
      (await call(client, 'read_text_file', { path: path('long.txt') }))._meta?.['unwedge/result'] ?? {};
    const bytes = Buffer.from(long);
    const place = bytes.indexOf('😀') + 1;
    const page = await call(client, read, { handle, from: place, bytes: 50 });
    const { from, to } = page._meta?.['unwedge/page'] ?? {};
    expect(from).toBe(place + 3);
    expect(page.content[0]?.text).toBe(bytes.toString('utf8', Number(from), Number(to)));
    expect(page.content[0]?.text).not.toContain('\ufffd');
  });

  it('[P-12] files: a picture larger than the limit is whole', async () => {
    const { client, path } = await startFiles(package_);
    const png = Buffer.from(Array.from({ length: 60_000 }, (_, at) => (at * 7919) % 256));
    writeFileSync(path('a.png'), png);
    const told = await call(client, 'read_media_file', { path: path('a.png') });
    const picture = told.content.find(({ type }) => type === 'image');
    expect(Buffer.from(picture?.data ?? '', 'base64').equals(png)).toBe(true);
    // The server says it in its structured content as well, which would be read on to no end.
    expect(told.content).toHaveLength(1);
    expect(told).not.toHaveProperty('structuredContent');
  });

  it('[P-12] memory: structured content is whole up to the limit, and not told in parts above it', async () => {
    const { directory } = makeHome();
    const { client } = await startOfficial(package_, 'memory', {
      words,
      env: { MEMORY_FILE_PATH: join(directory, 'm.json') },
    });
    const entity = (at: number) => ({ name: `n${at}`, entityType: 'ß', observations: ['漢'.repeat(100)] });
    const small = { entities: [entity(0)] };
    await call(client, 'create_entities', small);
    const whole = await call(client, 'read_graph', {});
    expect(whole.structuredContent).toMatchObject(small);
    expect(JSON.parse(textOf(whole))).toMatchObject(small);
    const entities = Array.from({ length: 200 }, (_, at) => entity(at + 1));
    await call(client, 'create_entities', { entities });
    const told = await call(client, 'read_graph', {});
    expect(told).not.toHaveProperty('structuredContent');
    const graph = await readOn(client, told._meta?.['unwedge/result']?.['handle'], 0);
    expect((JSON.parse(graph) as { entities: unknown }).entities).toEqual([entity(0), ...entities]);
  });

  it('[P-12] everything: what is small is as the server gave it, structure and picture too', async () => {
    const seen = [];
    for (const given of [[], words]) {
      const { client } = await startOfficial(package_, 'everything', { words: given });
      await client.listTools();
      const calls: readonly (readonly [string, Record<string, unknown>])[] = [
        ['echo', { message: 'hällo' }],
        ['get-structured-content', { location: 'Chicago' }],
        ['get-tiny-image', {}],
        ['get-resource-links', { count: 2 }],
        ['get-annotated-message', { messageType: 'success', includeImage: true }],
      ];
      const results = [];
      for (const [name, args] of calls) results.push(await call(client, name, args));
      seen.push(results);
    }
    expect(seen[1]).toEqual(seen[0]);
    expect(seen[0]?.[1]?.structuredContent).toHaveProperty('conditions');
  });

  it('[P-12] everything: with the least limit a picture and small structure are whole still, beside text that is cut', async () => {
    const { client } = await startOfficial(package_, 'everything', { words: ['--max-result', '1kB'] });
    const message = 'ä'.repeat(4000);
    const told = await call(client, 'echo', { message });
    const { handle } = told._meta?.['unwedge/result'] ?? {};
    expect(await readOn(client, handle, 0)).toBe(`Echo: ${message}`);
    const { content } = await call(client, 'get-tiny-image', {});
    const picture = content.find(({ type }) => type === 'image');
    expect(picture?.data?.length).toBeGreaterThan(1000);
    expect(
      Buffer.from(picture?.data ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    expect(await call(client, 'get-structured-content', { location: 'Chicago' })).toHaveProperty(
      'structuredContent.temperature',
    );
  });
});
