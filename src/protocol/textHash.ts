/** 128 bits of a text as 32 hexadecimal digits. Tells texts apart; it keeps nobody from forging one. */
export function textHash(text: string): string {
  return [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344]
    .map((seed) => mixed(text, seed).toString(16).padStart(8, '0'))
    .join('');
}

/** FNV-1a over UTF-16 units from a seed, finished as MurmurHash3 does so that every bit depends on all of them. */
function mixed(text: string, seed: number): number {
  let hash = seed ^ text.length;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** A UUID (version 8) that is always the same for the same text. */
export function derivedUuid(text: string): string {
  const hex = textHash(text);
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 0x3) | 0x8).toString(16);
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, variant + hex.slice(17, 20), hex.slice(20)].join(
    '-',
  );
}
