import type { Random } from './clock.ts';

/** A new key for a call: a UUID of version 7, of the time and 74 random bits. @param wallNow - in ms since the epoch. */
export function newIdempotencyKey(random: Random, wallNow: number): string {
  const time = Math.max(0, Math.floor(wallNow)).toString(16).padStart(12, '0').slice(-12);
  const digits = (count: number): string =>
    Array.from({ length: count }, () => Math.floor(random() * 16).toString(16)).join('');
  const variant = (8 + Math.floor(random() * 4)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${digits(3)}-${variant}${digits(3)}-${digits(12)}`;
}
