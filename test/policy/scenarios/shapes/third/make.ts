import { failed, ok, spinning } from '../build.ts';
import type { ShapeBreak, ShapeTool, SpinningShape } from '../shape.ts';

const mixed = (value: number): number => {
  let left = Math.imul(value ^ 0x9e37_79b9, 0x85eb_ca6b);
  left = Math.imul(left ^ (left >>> 13), 0xc2b2_ae35);
  return (left ^ (left >>> 16)) >>> 0;
};

/** Makes a number of `from` to below `to`, its own for each index and salt. */
export const num = (index: number, from: number, to: number, salt = 0): number =>
  from + (mixed(index * 7919 + salt * 104_729 + 17) % (to - from));

const spelled = (index: number, length: number, letters: string, salt = 0): string =>
  Array.from({ length }, (_, place) => letters[num(index * 131 + place, 0, letters.length, salt + place)]).join('');

/** Makes hexadecimal digits, as of an id or a content hash. */
export const hex = (index: number, length: number, salt = 0): string =>
  spelled(index, length, '0123456789abcdef', salt);

/** Makes letters and digits, as of an opaque id. */
export const base62 = (index: number, length: number, salt = 0): string =>
  spelled(index, length, '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', salt);

/** Makes capitals and digits of Crockford's alphabet, as of a ULID. */
export const base32 = (index: number, length: number, salt = 0): string =>
  spelled(index, length, '0123456789ABCDEFGHJKMNPQRSTVWXYZ', salt);

/** Makes a UUID of version 4. */
export const uuid = (index: number, salt = 0): string =>
  `${hex(index, 8, salt)}-${hex(index, 4, salt + 20)}-4${hex(index, 3, salt + 30)}-a${hex(index, 3, salt + 40)}-${hex(index, 12, salt + 50)}`;

/** Makes the process id of a call. */
export const pid = (index: number, salt = 0): number => 12_310 + index * 211 + num(index, 0, 150, salt);

/** Makes the moment of a call, each a minute or so after the one before. */
export const moment = (index: number): Date =>
  new Date(Date.UTC(2026, 10, 30, 9, 58, 7) + index * 67_413 + num(index, 0, 999));

export const iso = (index: number): string => moment(index).toISOString();

/** Makes the time of day, `09:58:07`. */
export const clock = (index: number): string => iso(index).slice(11, 19);

/** Makes digits of a fraction of a second. */
export const fraction = (index: number, digits: number): string => spelled(index, digits, '0123456789', 3);

/** Makes seconds with two decimals. */
export const seconds = (index: number): string => (num(index, 11, 420, 5) / 100).toFixed(2);

/** Makes milliseconds. */
export const millis = (index: number): number => num(index, 2, 480, 6);

interface Spin {
  readonly between?: number;
  readonly breaks?: Readonly<Record<number, ShapeBreak>>;
  readonly source?: string;
}

/** A call that fails for ever. */
export const fails = (
  name: string,
  tool: string,
  input: unknown,
  message: (index: number) => string,
  spin: Spin = {},
): SpinningShape => spinning(name, (index) => failed(tool, input, message(index)), spin);

/** A shell command that fails for ever, in the words of Claude Code. */
export const bash = (name: string, command: string, message: (index: number) => string, spin: Spin = {}, code = 1) =>
  fails(name, 'Bash', { command }, (index) => `Exit code ${code}\n${message(index)}`, spin);

const readOnly: ShapeTool = { effect: 'readOnly' };

/** A declared read that answers alike for ever. */
export const reads = (
  name: string,
  tool: string,
  input: unknown,
  text: (index: number) => string,
  spin: Spin = {},
): SpinningShape => spinning(name, (index) => ok(tool, input, text(index)), { ...spin, tools: { [tool]: readOnly } });
