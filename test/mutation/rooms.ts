/** The rooms whose lines are changed, and the tests that are to notice it: quick ones, on simulated time as far as they can be. */
export const rooms = {
  policy: ['test/policy/**', '!**/databaseCodes.test.ts'],
  machines: ['test/machines/**', 'test/calls/circuit/**', 'test/sessions/*'],
  calls: ['test/calls/**'],
  supervisor: ['test/supervisor/**'],
  sessions: ['test/sessions/**'],
} as const satisfies Record<string, readonly string[]>;

export type Room = keyof typeof rooms;

export const isRoom = (name: string): name is Room => Object.hasOwn(rooms, name);
