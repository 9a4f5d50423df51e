import { crc32, deflateSync } from 'node:zlib';

/** As many as half a byte tells apart: more than a page has but for the edges of its letters. */
const most = 16;

/**
 * A picture of a page in sixteen of its colours, as PNG: less than two thirds of what takes all of them.
 * @param {import('playwright-core').Page} page - an empty one, which reads the pixels.
 * @param {Buffer} png
 */
export async function smallPicture(page, png) {
  const { width, height, colours, text } = await page.evaluate(inFewColours, { png: png.toString('base64'), most });
  const pixels = Buffer.from(text, 'latin1');
  const rowBytes = Math.ceil(width / 2);
  const rows = Buffer.alloc((rowBytes + 1) * height);
  for (const [at, index] of pixels.entries()) {
    const x = at % width;
    rows[Math.floor(at / width) * (rowBytes + 1) + 1 + (x >> 1)] |= index << (x % 2 === 0 ? 4 : 0);
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([4, 3], 8);
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(colours.flatMap((colour) => [colour & 255, (colour >> 8) & 255, (colour >> 16) & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, data) {
  const bytes = Buffer.concat([Buffer.alloc(4), Buffer.from(type), data, Buffer.alloc(4)]);
  bytes.writeUInt32BE(data.length);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, -4)), bytes.length - 4);
  return bytes;
}

/** Runs in the browser, where nothing of this file is known; a character of the text is a pixel. */
async function inFewColours({ png, most }) {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${png}`)).blob());
  const { width, height } = image;
  const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
  context.drawImage(image, 0, 0);
  const pixels = new Uint32Array(context.getImageData(0, 0, width, height).data.buffer);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const all = [...counts.keys()];
  const apart = (a, b) => [0, 8, 16].reduce((sum, bit) => sum + (((a >> bit) & 255) - ((b >> bit) & 255)) ** 2, 0);
  const colours = all.slice(0, 1);
  const nearest = (each) => colours.reduce((best, colour) => (apart(colour, each) < apart(best, each) ? colour : best));
  // The next is far from all that were taken, or there is much of it.
  const need = (each) => apart(nearest(each), each) * counts.get(each) ** 0.6;
  while (colours.length < Math.min(most, all.length)) {
    const needs = all.map((each) => [each, need(each)]);
    colours.push(needs.reduce((best, each) => (each[1] > best[1] ? each : best))[0]);
  }
  const places = new Map(all.map((each) => [each, String.fromCharCode(colours.indexOf(nearest(each)))]));
  return { width, height, colours, text: Array.from(pixels, (pixel) => places.get(pixel)).join('') };
}
