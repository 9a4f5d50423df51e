/** A number of a seed, the same in every run. */
export const hash = (seed: number): number => {
  let mixed = (seed + 0x6d2b79f5) | 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return (mixed ^ (mixed >>> 14)) >>> 0;
};

const words = [
  'billing',
  'search',
  'orders',
  'users',
  'cart',
  'mail',
  'queue',
  'cache',
  'audit',
  'report',
  'upload',
  'login',
  'token',
  'theme',
  'router',
  'parser',
  'invoice',
  'stock',
  'price',
  'media',
  'export',
  'import',
  'chart',
  'hooks',
  'jobs',
  'roles',
] as const;

export const word = (index: number): string => words[index % words.length] ?? 'other';

const begin = Date.UTC(2026, 2, 2, 9, 4, 11);

/** Time of a session, some seconds after its begin, as `2026-03-02T09:04:11.312Z`. */
export const iso = (seconds: number): string => new Date(begin + seconds * 1000 + (hash(seconds) % 1000)).toISOString();

/** Time of day as `09:04:11`. */
export const clock = (seconds: number): string => iso(seconds).slice(11, 19);

/** Seconds since 1970. */
export const epoch = (seconds: number): number => begin / 1000 + seconds;

export const pid = (index: number): number => 4000 + (hash(index) % 60_000);

export const hex = (index: number, length: number): string =>
  [0, 1, 2, 3, 4]
    .map((part) =>
      hash(index * 5 + part)
        .toString(16)
        .padStart(8, '0'),
    )
    .join('')
    .slice(0, length);

export const uuid = (index: number): string => {
  const all = hex(index, 32);
  return `${all.slice(0, 8)}-${all.slice(8, 12)}-4${all.slice(13, 16)}-a${all.slice(17, 20)}-${all.slice(20, 32)}`;
};

/** Duration in milliseconds, between 40 and 940. */
export const millis = (index: number): number => 40 + (hash(index) % 900);

/** Duration in seconds, as `0.31`. */
export const seconds = (index: number, digits = 2): string => (millis(index) / 1000).toFixed(digits);

/** Age as kubectl writes it: `41s`, `3m12s`. */
export const age = (total: number): string =>
  total < 120 ? `${total}s` : `${Math.floor(total / 60)}m${total % 60 === 0 ? '' : `${total % 60}s`}`;

/** Text in a colour of a terminal, another one each time; every fourth time in none. */
export const coloured = (text: string, index: number): string =>
  index % 4 === 3 ? text : `\u001b[${31 + (index % 4)}m${text}\u001b[0m`;
