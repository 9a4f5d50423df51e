/** Values looked at in one fingerprint; what is beyond is taken for equal. */
const mostValues = 50_000;
/** Characters up to which a text is read one by one; a longer one is encoded first. */
const shortText = 32;

const encoder = new TextEncoder();
/** Room for a part of a text in UTF-8, and for what fills its last word. */
const bytes = new Uint8Array(65_536 + 4);
const words = new Int32Array(bytes.buffer);
const room = bytes.subarray(0, 65_536);
const float = new Float64Array(1);
const halves = new Int32Array(float.buffer);

/** Both halves of the fingerprint that is being made: numbers of 53 bits for each part would be objects. */
let one = 0;
let other = 0;
/** What a fingerprint is made by: values that may still be looked at, and what is done to a text before it counts. */
interface Look {
  left: number;
  /** Objects within each other: more than 200 are taken for a cycle, which would be followed for 30 ms otherwise. */
  depth: number;
  readonly even?: ((text: string) => string) | undefined;
}

let unread = 0;

/**
 * A number of 53 bits for a value: the same for values that are equal as JSON, whatever the order of their keys. Never throws. Takes about 0.5 us for 1 kB of
 * text; of a value that is none in JSON (a map, bytes, a function) what can be read counts, and what cannot be read is like nothing else.
 * @param even - done to each text, with its key where it has one, before it counts
 */
export function fingerprint(value: unknown, even?: (text: string) => string): number {
  begin();
  try {
    takeValue(value, { left: mostValues, depth: 0, even });
    return made();
  } catch {
    // A getter of the caller's, a proxy, a cycle.
    return --unread;
  }
}

/** The same for a text alone. */
export function textFingerprint(text: string): number {
  begin();
  takeText(text);
  return made();
}

/** A number for two that stand in this order. */
export function paired(first: number, second: number): number {
  const low = Math.imul(first | 0, 0xc2b2_ae35) ^ Math.imul(high(first) + 1, 0x27d4_eb2f) ^ (second | 0);
  const rest = Math.imul(high(second) + 1, 0x1656_67b1) ^ Math.imul(second | 0, 0x9e37_79b1) ^ mixed(low);
  return joined(mixed(low ^ Math.imul(rest, 0x85eb_ca6b)), mixed(rest));
}

const high = (number: number): number => (number / 0x1_0000_0000) | 0;
const joined = (low: number, rest: number): number => (rest & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0);

function begin(): void {
  one = 0x2545_f491;
  other = 0x41c6_ce57;
}

const made = (): number => joined(mixed(one), mixed(other));

function mixed(number: number): number {
  const once = Math.imul(number ^ (number >>> 16), 0x7feb_352d);
  const twice = Math.imul(once ^ (once >>> 15), 0x846c_a68b);
  return twice ^ (twice >>> 16);
}

function take(word: number): void {
  one = Math.imul(one ^ word, 0x85eb_ca6b);
  // Turned, so that what differs in the highest bits alone does not stay there.
  other = Math.imul(((other << 13) | (other >>> 19)) ^ word, 0x5f35_6495);
}

/** Takes the length of a text and its words, with the halves at hand: half as long as by {@link take}. */
function takeText(text: string): void {
  take(text.length);
  if ((text.length & 1) === 1) take(text.charCodeAt(0));
  let first = one;
  let second = other;
  if (text.length <= shortText)
    for (let index = text.length & 1; index < text.length; index += 2) {
      const word = text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16);
      first = Math.imul(first ^ word, 0x85eb_ca6b);
      second = Math.imul(((second << 13) | (second >>> 19)) ^ word, 0x5f35_6495);
    }
  else
    for (let rest = text; rest !== ''; ) {
      const { read, written } = encoder.encodeInto(rest, room);
      rest = read === rest.length ? '' : rest.slice(read);
      bytes[written] = bytes[written + 1] = bytes[written + 2] = 0;
      const count = (written + 3) >>> 2;
      for (let index = 0; index < count; index++) {
        const word = words[index] as number;
        first = Math.imul(first ^ word, 0x85eb_ca6b);
        second = Math.imul(((second << 13) | (second >>> 19)) ^ word, 0x5f35_6495);
      }
    }
  one = first;
  other = second;
}

function takeNumber(value: number): void {
  // Zero has one sign in JSON.
  float[0] = value + 0;
  take(halves[0] as number);
  take(halves[1] as number);
}

function takeValue(value: unknown, look: Look): void {
  if (look.left-- <= 0) return take(1);
  if (typeof value === 'string') {
    take(2);
    takeText(look.even === undefined ? value : look.even(value));
  } else if (typeof value === 'number') {
    take(3);
    takeNumber(value);
  } else if (typeof value === 'boolean') take(value ? 4 : 5);
  else if (typeof value !== 'object' || value === null) takeText(`${typeof value} ${String(value)}`);
  else if (Array.isArray(value)) {
    take(6);
    take(value.length);
    for (const each of value) takeValue(each, look);
  } else if (ArrayBuffer.isView(value))
    takeText(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('latin1'));
  else if ('toJSON' in value && typeof value.toJSON === 'function')
    takeValue((value as { toJSON(): unknown }).toJSON(), look);
  else takeMembers(value, look);
}

function takeMembers(value: object, look: Look): void {
  if (++look.depth > 200) throw new RangeError('It has a cycle');
  const ofAll = one;
  const otherOfAll = other;
  let [sum, otherSum, keys] = [5, 7, 0];
  // Takes half as long as Object.keys(); what a prototype shows counts too.
  for (const key in value) {
    keys++;
    const member: unknown = (value as Readonly<Record<string, unknown>>)[key];
    if (member === undefined || typeof member === 'function') continue;
    begin();
    if (look.even !== undefined && (typeof member === 'string' || typeof member === 'number'))
      takeValue(`"${key}":"${member}`, look);
    else {
      takeText(key);
      takeValue(member, look);
    }
    // Added, so that the order of the keys does not count.
    sum = (sum + mixed(one)) | 0;
    otherSum = (otherSum + mixed(other)) | 0;
  }
  look.depth--;
  one = ofAll;
  other = otherOfAll;
  // Of an object that shows no keys: what a map or a set has in it; an error, a promise, a buffer is like nothing else.
  if (keys === 0 && (value instanceof Map || value instanceof Set)) return takeValue([...value], look);
  if (keys === 0 && Object.prototype.toString.call(value) !== '[object Object]') sum = --unread;
  take(sum);
  take(otherSum);
}
